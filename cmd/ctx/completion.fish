# Completion of ctx for fish: commands, names of agents and sessions, paths of the tree.
function __ctx_words
    set -l words (commandline -opc)
    set -l at (count $words)
    switch "$at:$words[2]"
        case '1:*' 2:help
            ctx completion names commands 2>/dev/null
        case 2:abi 2:agent 2:auth 2:object 2:policy 2:terminal
            ctx completion names $words[2] 2>/dev/null
        case 3:abi
            test "$words[3]" = show; and printf '%s\n' op v1 v2 sdk-envelope control tool-native
        case 4:abi
            test "$words[3]" = show; and ctx abi show $words[4] 2>/dev/null | string replace -rf '^  ([a-z_]+) .*' '$1'
        case 3:help
            ctx completion names $words[3] 2>/dev/null
        case 2:completion
            printf '%s\n' bash zsh fish
        case 2:which
            printf '%s\n' agent tool model
        case 3:which
            ctx completion names objects $words[3] 2>/dev/null
        case 2:ls 2:cat 2:set 2:append
            ctx completion names paths (commandline -ct) 2>/dev/null
        case 3:agent
            contains -- $words[3] new apply; or ctx completion names agents 2>/dev/null
        case 3:auth
            if test "$words[3]" = login
                ctx completion names providers 2>/dev/null
            else
                ctx completion names secrets 2>/dev/null
            end
        case 3:object
            switch "$words[3]"
                case inspect uninstall
                    ctx completion names installed 2>/dev/null
                case residue
                    printf '%s\n' audit cleanup
            end
        case 3:terminal
            if contains -- $words[3] create list
                ctx completion names agents 2>/dev/null
            else
                ctx completion names terminals 2>/dev/null
            end
        case 4:agent
            test "$words[3]" = apply; and ctx completion names agents 2>/dev/null
        case 3:policy
            ctx completion names agents 2>/dev/null
        case 4:policy
            ctx completion names tools 2>/dev/null
        case 5:policy
            printf '%s\n' execute use read write resume create start stop connect
    end
end
function __ctx_sessions
    set -l words (commandline -opc)
    set -l agent coder
    set -q CTX_AGENT; and set agent $CTX_AGENT
    contains -- "$words[2]" agent terminal; and set agent $words[4]
    ctx completion names sessions $agent 2>/dev/null
end
complete -c ctx -f -a '(__ctx_words)'
complete -c ctx -F -n '__fish_seen_subcommand_from verify export apply check install'
complete -c ctx -l help -s h -d 'Print help'
complete -c ctx -l json -d 'Print facts as JSON'
complete -c ctx -l source -r -F -d 'Source tree'
complete -c ctx -l root -r -F -d 'View of the tree'
complete -c ctx -l no-start -d 'Do not start ctxd'
complete -c ctx -l agent -x -a '(ctx completion names agents 2>/dev/null)' -d Agent
complete -c ctx -l session -x -a '(__ctx_sessions)' -d Session
complete -c ctx -l socket -r -F -d 'Socket of a server'
complete -c ctx -l asking-socket -r -F -d 'Socket of an agent that asks'
complete -c ctx -l asking-agent -x -a '(ctx completion names agents 2>/dev/null)' -d 'Agent that asks'
complete -c ctx -l abi -x -a 'op v1 v2 control' -d 'Protocol to talk'
complete -c ctx -l only -x -d 'The one conversation to play'
complete -c ctx -l scope -x -a 'private temp shared:' -d Scope
complete -c ctx -l workspace -r -F -d 'Folder shown as /workspace'
complete -c ctx -l no-workspace -d 'Show no folder of the host'
complete -c ctx -l from -r -F -d 'Description of the agent'
complete -c ctx -l exec -r -F -d 'Program of the agent'
complete -c ctx -l system -r -F -d 'Text that tells it what it is'
complete -c ctx -l model -x -a '(ctx completion names objects model 2>/dev/null)' -d Model
complete -c ctx -l tools -x -a '(ctx completion names objects tool 2>/dev/null)' -d Tools
complete -c ctx -l slot -x -d 'Which of the keys'
complete -c ctx -l from-env -x -a '(set --names --export)' -d 'Variable that holds it'
complete -c ctx -l perm -x -a '--- r-- -w- --x rw- r-x -wx rwx' -d Ceiling
complete -c ctx -l approval -x -a 'auto ask' -d Approval
complete -c ctx -l tier -x -a 'system user' -d 'Whose tools'
complete -c ctx -l replace -d 'Take the place of what was installed'
complete -c ctx -l dry-run -d 'Write nothing'
complete -c ctx -l yes -d 'Do it without asking'
complete -c ctx -l raw -d 'Print frames'
complete -c ctx -l approve -x -a '(ctx completion names objects tool 2>/dev/null)' -d 'Tool to allow when it asks'
complete -c ctx -l id -x -d 'Request id'
complete -c ctx -l cwd -x -d 'Working folder in the view'
complete -c ctx -l no-default-workspace -d 'Do not show this folder'
complete -c ctx -l detach-key -x -a 'none' -d 'Keys that leave'
complete -c ctx -l output -r -F -d 'New file to write'
complete -c ctx -l last -x -d 'Commands to print'
complete -c ctx -l plain -d 'Only what they printed'
complete -c ctx -l after -x -d 'Cursor'
complete -c ctx -l count -s n -x -d 'Messages to print'
complete -c ctx -l label -x -d Label
complete -c ctx -l mount -r -F -d 'SRC DST ro|rw'
complete -c ctx -l long -d 'Mode, size and time too'
complete -c ctx -l kind -x -a 'object agent tool provider model session space terminal' -d 'Kind of name'
complete -c ctx -l owner -x -d 'Uid that the agents belong to'
complete -c ctx -l check -d 'Report and write nothing'
complete -c ctx -l programs -r -F -d 'Folder of the programs'
complete -c ctx -l force -d 'Write over files'
complete -c ctx -l timeout -x -d 'Milliseconds a step may take'
complete -c ctx -l tap -d 'Report in TAP'
