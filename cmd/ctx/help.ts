// What `ctx --help` prints: every command of this version with one line each.

export const help = `Usage: ctx COMMAND [ARG...]

An agent runtime that looks like Unix: agents, tools and models are files.

Look
  status                     what is served here and whether it runs
  ls [PATH]                  list a folder of the tree
  cat PATH                   print a file of the tree
  which CLASS NAME           where an object is
  doctor                     check the installation and say what to do

Talk
  send INPUT...              send a message and stream its answer
  chat                       talk line by line; ctx alone does the same
  history                    the last messages
  resume                     replay a session and follow its run
  cancel                     cancel the active run
  agent list|status|send|chat|resume|cancel|history|output|prompt|tools
                             the same for an agent named first; the short forms
                             take --agent NAME, else CTX_AGENT, else coder

Look over its shoulder
  agent start NAME           start the terminal of a session; it goes on by itself
  agent watch NAME           see it and send nothing
  agent attach NAME          see it and type; Ctrl-\\ Ctrl-\\ leaves
  agent stop NAME            end it and everything in it
  agent ps [NAME]            the terminals that run
  terminal create|list|status|watch|attach|export|output
                             the same by a terminal's id, and what ended ones left

Change
  bootstrap [SOURCE]         make or update a tree
  agent new NAME             make an agent, from a file or by options
  agent apply FILE [NAME]    make an agent equal to its description
  agent check NAME           what it may do, and which lines are missing
  set PATH VALUE             set a control file
  object check|install MANIFEST
                             check and install a tool or an agent, by a receipt
  object inspect|uninstall OBJECT
                             what was installed, and removing exactly that
  object residue audit|cleanup
                             what cut installations left
  append PATH LINE           add a line to a list, such as a policy
  auth login|status|logout PROVIDER | mcp/SERVER/VARIABLE
                             keys, where only you and ctxd can read them
  tool tsh.config [KEY=VALUE...]
                             show or set the bounds of what tsh keeps loaded
  serve                      run ctxd in the foreground

Explain
  policy explain AGENT CLASS:NAME PERMISSION
  policy check [AGENT|FILE]
  abi                        the protocols and their versions
  abi show [PROTOCOL [KIND]] what is promised about a frame
  abi verify [FILE]          judge frames line by line
  abi conformance --socket PATH --abi NAME
                             play whole conversations against a server
  abi export DIR             write schemas and golden files
  validate-name NAME
  completion bash|zsh|fish
  exec OBJECT [INPUT...]     run an object (what built-in objects do)

Every command: --help, --json where it prints facts, --source DIR (or CTX_SOURCE),
--root DIR (or CTX_ROOT), --no-start (do not start ctxd). Also: ctx --version [--json].

Exit status: 0 ok, 1 failed, 2 bad input, 13 refused, 69 unavailable, 70 internal, 130 cancelled.

The manual is in the tree: ctx cat shared/cortexfs-docs/README.md

Examples:
  ctx bootstrap && ctx agent send coder "What is in this folder?"
  ctx policy explain coder tool:fs.write execute
`;
