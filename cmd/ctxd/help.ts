export const help = `Usage: ctxd serve [--source TREE] [--set KEY=VALUE]... [--foreground]
       ctxd --version | --help

Hosts the agents of one tree: their sockets, sessions, runs and tools.

Commands:
  serve       serve the tree until SIGTERM

Run "ctxd serve --help" for its options. ctx starts a server by itself when none answers.

Examples:
  ctxd serve
  ctxd serve --source ~/trees/work --set tool_timeout_ms=30000
`;
