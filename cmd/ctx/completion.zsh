#compdef ctx
# Completion of ctx for zsh: commands, names of agents and sessions, paths of the tree.
_ctx() {
  local -a names
  local previous=$words[CURRENT-1] agent=${CTX_AGENT:-coder}
  [[ $words[2] == agent ]] && agent=$words[4]
  case $previous in
    --agent|--asking-agent) names=(${(f)"$(ctx completion names agents 2>/dev/null)"}) ;;
    --session) names=(${(f)"$(ctx completion names sessions $agent 2>/dev/null)"}) ;;
    --source|--root|--workspace|--programs) _files -/; return ;;
    --socket|--asking-socket|--from|--exec|--system) _files; return ;;
    --model) names=(${(f)"$(ctx completion names objects model 2>/dev/null)"}) ;;
    --tools) names=(${(f)"$(ctx completion names objects tool 2>/dev/null)"}) ;;
    --perm) names=(--- r-- -w- --x rw- r-x -wx rwx) ;;
    --approval) names=(auto ask) ;;
    --abi) names=(op v1 v2 control) ;;
    --scope) names=(private temp shared:) ;;
    --kind) names=(object agent tool provider model session space terminal) ;;
    *)
      case $((CURRENT - 1)):$words[2] in
        1:*|2:help) names=(${(f)"$(ctx completion names commands 2>/dev/null)"}) ;;
        2:abi|2:agent|2:policy) names=(${(f)"$(ctx completion names $words[2] 2>/dev/null)"}) ;;
        3:abi)
          case $previous in
            show) names=(op v1 v2 sdk-envelope control tool-native) ;;
            conformance) names=(--socket) ;;
            *) _files; return ;;
          esac ;;
        2:completion) names=(bash zsh fish) ;;
        2:which) names=(agent tool model) ;;
        3:which) names=(${(f)"$(ctx completion names objects $previous 2>/dev/null)"}) ;;
        2:ls|2:cat|2:set|2:append) names=(${(f)"$(ctx completion names paths $words[CURRENT] 2>/dev/null)"}) ;;
        3:agent|3:policy)
          [[ $previous == new ]] && return
          [[ $previous == apply ]] && { _files; return }
          names=(${(f)"$(ctx completion names agents 2>/dev/null)"}) ;;
        4:agent) [[ $words[3] == apply ]] && names=(${(f)"$(ctx completion names agents 2>/dev/null)"}) ;;
        4:policy) names=(${(f)"$(ctx completion names tools 2>/dev/null)"}) ;;
        5:policy) names=(execute use read write resume create start stop connect) ;;
      esac
      if [[ $words[CURRENT] == -* ]]; then
        names=(--help --json --source --root --no-start --agent --session --scope --workspace --no-workspace --cwd --raw --id)
        [[ "$words[2] $words[3]" == 'abi conformance' ]] &&
          names=(--help --json --tap --socket --abi --agent --asking-socket --asking-agent --only --timeout)
        [[ "$words[2] $words[3]" == 'agent new' ]] &&
          names=(--help --json --source --from --model --tools --mount --perm --label --exec --approval --system --dry-run)
        [[ "$words[2] $words[3]" == 'agent apply' ]] &&
          names=(--help --json --source --yes --dry-run)
      fi ;;
  esac
  compadd -a names
}
compdef _ctx ctx
