#compdef ctx
# Completion of ctx for zsh: commands, names of agents and sessions, paths of the tree.
# The options of a command are those of its help. A word that is no command is not passed on.
_ctx_options() {
  local -a command=($1)
  [[ $1 == (abi|agent|auth|object|policy|terminal) ]] && command+=($2)
  ctx $command --help 2>/dev/null |
    sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p'
}
_ctx() {
  local -a names
  local previous=$words[CURRENT-1] agent=${CTX_AGENT:-coder}
  [[ $words[2] == (agent|terminal) ]] && agent=$words[4]
  case $previous in
    --agent|--asking-agent) names=(${(f)"$(ctx completion names agents 2>/dev/null)"}) ;;
    --session) names=(${(f)"$(ctx completion names sessions $agent 2>/dev/null)"}) ;;
    --source|--root|--workspace|--programs|--mount) _files -/; return ;;
    --socket|--asking-socket|--from|--exec|--system|--output) _files; return ;;
    --model) names=(${(f)"$(ctx completion names objects model 2>/dev/null)"}) ;;
    --tools|--approve) names=(${(f)"$(ctx completion names objects tool 2>/dev/null)"}) ;;
    --perm) names=(--- r-- -w- --x rw- r-x -wx rwx) ;;
    --tier) names=(system user) ;;
    --approval) names=(auto ask) ;;
    --abi) names=(op v1 v2 control) ;;
    --from-env) names=(${(k)parameters[(R)*export*]}) ;;
    --last|--detach-key|--slot) return ;;
    --scope) names=(private temp shared:) ;;
    --kind) names=(object agent tool provider model session space terminal) ;;
    *)
      case $((CURRENT - 1)):$words[2] in
        1:*|2:help) names=(${(f)"$(ctx completion names commands 2>/dev/null)"}) ;;
        2:abi|2:agent|2:auth|2:object|2:policy|2:terminal) names=(${(f)"$(ctx completion names $words[2] 2>/dev/null)"}) ;;
        3:abi)
          case $previous in
            show) names=(op v1 v2 sdk-envelope control tool-native) ;;
            conformance) names=(--socket) ;;
            *) _files; return ;;
          esac ;;
        4:abi) [[ $words[3] == show ]] &&
          names=(${(f)"$(ctx abi show $words[4] 2>/dev/null | sed -n 's/^  \([a-z_]*\) .*/\1/p')"}) ;;
        3:help) names=(${(f)"$(ctx completion names $previous 2>/dev/null)"}) ;;
        2:completion) names=(bash zsh fish) ;;
        2:which) names=(agent tool model) ;;
        3:which) names=(${(f)"$(ctx completion names objects $previous 2>/dev/null)"}) ;;
        2:ls|2:cat|2:set|2:append) names=(${(f)"$(ctx completion names paths $words[CURRENT] 2>/dev/null)"}) ;;
        3:auth)
          case $previous in
            login) names=(${(f)"$(ctx completion names providers 2>/dev/null)"}) ;;
            *) names=(${(f)"$(ctx completion names secrets 2>/dev/null)"}) ;;
          esac ;;
        3:object)
          case $previous in
            check|install) _files; return ;;
            residue) names=(audit cleanup) ;;
            *) names=(${(f)"$(ctx completion names installed 2>/dev/null)"}) ;;
          esac ;;
        *:object) [[ $words[3] == (check|install) && $words[CURRENT] != -* ]] && { _files; return } ;;
        3:terminal)
          case $previous in
            create|list) names=(${(f)"$(ctx completion names agents 2>/dev/null)"}) ;;
            *) names=(${(f)"$(ctx completion names terminals 2>/dev/null)"}) ;;
          esac ;;
        3:agent|3:policy)
          [[ $previous == new ]] && return
          [[ $previous == apply ]] && { _files; return }
          names=(${(f)"$(ctx completion names agents 2>/dev/null)"}) ;;
        4:agent) [[ $words[3] == apply ]] && names=(${(f)"$(ctx completion names agents 2>/dev/null)"}) ;;
        4:policy) names=(${(f)"$(ctx completion names tools 2>/dev/null)"}) ;;
        5:policy) names=(execute use read write resume create start stop connect) ;;
      esac
      [[ $words[CURRENT] == -* ]] && names=(${(f)"$(_ctx_options $words[2] $words[3])"}) ;;
  esac
  compadd -a names
}
compdef _ctx ctx
