# Completion of ctx for bash: commands, names of agents and sessions, paths of the tree.
# The options of a command are those of its help. A word that is no command is not passed on.
_ctx_options() {
  local -a command=("$1")
  case $1 in abi | agent | auth | object | policy | terminal) command+=("$2") ;; esac
  ctx "${command[@]}" --help 2>/dev/null |
    sed -n 's/^ *\(-[a-z], \)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p'
}
_ctx() {
  # By spaces alone: bash would part CLASS:NAME at its colon and count it as three words.
  local line=${COMP_LINE:0:COMP_POINT} names=
  local -a parts
  read -ra parts <<< "$line"
  [[ $line == *[[:space:]] ]] && parts+=('')
  local at=$((${#parts[@]} - 1))
  local word=${parts[at]} previous=${parts[at-1]} agent=${CTX_AGENT:-coder}
  [[ ${parts[1]} == agent || ${parts[1]} == terminal ]] && agent=${parts[3]}
  case $previous in
    --agent|--asking-agent) names=$(ctx completion names agents 2>/dev/null) ;;
    --session) names=$(ctx completion names sessions "$agent" 2>/dev/null) ;;
    --source|--root|--workspace|--programs|--mount) compopt -o dirnames; return ;;
    --socket|--asking-socket|--from|--exec|--system|--output) compopt -o default; return ;;
    --model) names=$(ctx completion names objects model 2>/dev/null) ;;
    --tools|--approve) names=$(ctx completion names objects tool 2>/dev/null) ;;
    --perm) names='--- r-- -w- --x rw- r-x -wx rwx' ;;
    --tier) names='system user' ;;
    --approval) names='auto ask' ;;
    --abi) names='op v1 v2 control' ;;
    --from-env) names=$(compgen -e) ;;
    --last | --detach-key | --slot) return ;;
    --scope) names='private temp shared:' ;;
    --kind) names='object agent tool provider model session space terminal' ;;
    *)
      case $at:${parts[1]} in
        1:* | 2:help) names=$(ctx completion names commands 2>/dev/null) ;;
        2:abi | 2:agent | 2:auth | 2:object | 2:policy | 2:terminal) names=$(ctx completion names "${parts[1]}" 2>/dev/null) ;;
        3:abi)
          case $previous in
            show) names='op v1 v2 sdk-envelope control tool-native' ;;
            conformance) names='--socket' ;;
            *) compopt -o default; return ;;
          esac ;;
        4:abi) [[ ${parts[2]} == show ]] &&
          names=$(ctx abi show "${parts[3]}" 2>/dev/null | sed -n 's/^  \([a-z_]*\) .*/\1/p') ;;
        3:help) names=$(ctx completion names "$previous" 2>/dev/null) ;;
        2:completion) names='bash zsh fish' ;;
        2:which) names='agent tool model' ;;
        3:which) names=$(ctx completion names objects "$previous" 2>/dev/null) ;;
        2:ls | 2:cat | 2:set | 2:append) names=$(ctx completion names paths "$word" 2>/dev/null); compopt -o nospace ;;
        3:auth)
          case $previous in
            login) names=$(ctx completion names providers 2>/dev/null) ;;
            *) names=$(ctx completion names secrets 2>/dev/null) ;;
          esac ;;
        3:object)
          case $previous in
            check | install) compopt -o default; return ;;
            residue) names='audit cleanup' ;;
            *) names=$(ctx completion names installed 2>/dev/null) ;;
          esac ;;
        *:object) [[ ${parts[2]} == check || ${parts[2]} == install ]] && [[ $word != -* ]] && { compopt -o default; return; } ;;
        3:terminal)
          case $previous in
            create | list) names=$(ctx completion names agents 2>/dev/null) ;;
            *) names=$(ctx completion names terminals 2>/dev/null) ;;
          esac ;;
        3:agent | 3:policy)
          [[ $previous == new ]] && return
          [[ $previous == apply ]] && { compopt -o default; return; }
          names=$(ctx completion names agents 2>/dev/null) ;;
        4:agent) [[ ${parts[2]} == apply ]] && names=$(ctx completion names agents 2>/dev/null) ;;
        4:policy) names=$(ctx completion names tools 2>/dev/null) ;;
        5:policy) names='execute use read write resume create start stop connect' ;;
      esac
      [[ $word == -* ]] && names=$(_ctx_options "${parts[1]}" "${parts[2]}") ;;
  esac
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "${names// /$'\n'}" -- "$word"))
  # What stands before the colon is no part of the word that bash replaces.
  [[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
}
complete -F _ctx ctx
