# Completion of ctx for bash: commands, names of agents and sessions, paths of the tree.
_ctx() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words=
  case $previous in
    --session) words=$(ctx completion names sessions "${COMP_WORDS[3]:-coder}" 2>/dev/null) ;;
    --source|--root|--workspace|--programs) compopt -o dirnames; return ;;
    --scope) words='private temp shared:' ;;
    --kind) words='object agent tool provider model session space terminal' ;;
    *)
      case $COMP_CWORD:${COMP_WORDS[1]} in
        1:*) words=$(ctx completion names commands 2>/dev/null) ;;
        2:agent | 2:policy) words=$(ctx completion names "${COMP_WORDS[1]}" 2>/dev/null) ;;
        2:completion) words='bash zsh fish' ;;
        2:which) words='agent tool model' ;;
        2:ls | 2:cat | 2:set) words=$(ctx completion names paths "$word" 2>/dev/null); compopt -o nospace ;;
        3:agent | 3:policy) words=$(ctx completion names agents 2>/dev/null) ;;
        4:policy) words=$(ctx completion names tools 2>/dev/null) ;;
        5:policy) words='execute use read write resume create start stop connect' ;;
      esac
      [[ $word == -* ]] && words='--help --json --source --root --no-start --session --scope --workspace --no-workspace --cwd --raw --id' ;;
  esac
  local IFS=$'\n'
  # The colon in CLASS:NAME breaks words in bash, so only what follows it is completed.
  COMPREPLY=($(compgen -W "${words// /$'\n'}" -- "$word"))
}
complete -F _ctx ctx
