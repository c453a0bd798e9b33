# Completion of ctx for bash: commands, names of agents and sessions, paths of the tree.
_ctx() {
  # By spaces alone: bash would part CLASS:NAME at its colon and count it as three words.
  local line=${COMP_LINE:0:COMP_POINT} names=
  local -a parts
  read -ra parts <<< "$line"
  [[ $line == *[[:space:]] ]] && parts+=('')
  local at=$((${#parts[@]} - 1))
  local word=${parts[at]} previous=${parts[at-1]} agent=${CTX_AGENT:-coder}
  [[ ${parts[1]} == agent ]] && agent=${parts[3]}
  case $previous in
    --agent|--asking-agent) names=$(ctx completion names agents 2>/dev/null) ;;
    --session) names=$(ctx completion names sessions "$agent" 2>/dev/null) ;;
    --source|--root|--workspace|--programs) compopt -o dirnames; return ;;
    --socket|--asking-socket|--from|--exec|--system) compopt -o default; return ;;
    --model) names=$(ctx completion names objects model 2>/dev/null) ;;
    --tools) names=$(ctx completion names objects tool 2>/dev/null) ;;
    --perm) names='--- r-- -w- --x rw- r-x -wx rwx' ;;
    --approval) names='auto ask' ;;
    --abi) names='op v1 v2 control' ;;
    --scope) names='private temp shared:' ;;
    --kind) names='object agent tool provider model session space terminal' ;;
    *)
      case $at:${parts[1]} in
        1:* | 2:help) names=$(ctx completion names commands 2>/dev/null) ;;
        2:abi | 2:agent | 2:policy) names=$(ctx completion names "${parts[1]}" 2>/dev/null) ;;
        3:abi)
          case $previous in
            show) names='op v1 v2 sdk-envelope control tool-native' ;;
            conformance) names='--socket' ;;
            *) compopt -o default; return ;;
          esac ;;
        2:completion) names='bash zsh fish' ;;
        2:which) names='agent tool model' ;;
        3:which) names=$(ctx completion names objects "$previous" 2>/dev/null) ;;
        2:ls | 2:cat | 2:set | 2:append) names=$(ctx completion names paths "$word" 2>/dev/null); compopt -o nospace ;;
        3:agent | 3:policy)
          [[ $previous == new ]] && return
          [[ $previous == apply ]] && { compopt -o default; return; }
          names=$(ctx completion names agents 2>/dev/null) ;;
        4:agent) [[ ${parts[2]} == apply ]] && names=$(ctx completion names agents 2>/dev/null) ;;
        4:policy) names=$(ctx completion names tools 2>/dev/null) ;;
        5:policy) names='execute use read write resume create start stop connect' ;;
      esac
      [[ $word == -* ]] && names='--help --json --source --root --no-start --agent --session --scope --workspace --no-workspace --cwd --raw --id'
      [[ $word == -* && "${parts[1]} ${parts[2]}" == 'abi conformance' ]] &&
        names='--help --json --tap --socket --abi --agent --asking-socket --asking-agent --only --timeout'
      [[ $word == -* && "${parts[1]} ${parts[2]}" == 'agent new' ]] &&
        names='--help --json --source --from --model --tools --mount --perm --label --exec --approval --system --dry-run'
      [[ $word == -* && "${parts[1]} ${parts[2]}" == 'agent apply' ]] &&
        names='--help --json --source --yes --dry-run' ;;
  esac
  local IFS=$'\n'
  COMPREPLY=($(compgen -W "${names// /$'\n'}" -- "$word"))
  # What stands before the colon is no part of the word that bash replaces.
  [[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
}
complete -F _ctx ctx
