// What `ctxmcp --help` and `ctxmcp COMMAND --help` print.

export const help = `Usage: ctxmcp COMMAND --config FILE --server NAME [OPTION...]
       ctxmcp --version | --help

Turns the tools of MCP servers into tool objects. Servers are programs that speak MCP on standard
input and output, as {"mcpServers": {"NAME": {"command": ..., "args": ..., "env": ...}}} names them.

Commands:
  list        the tools that a server has
  project     write a manifest for each of them; nothing is installed and nothing granted
  call        call one, to see what it answers
  serve-tool  what the host runs in a sandbox for the calls of agents; not to be run by hand

Run "ctxmcp COMMAND --help" for its options. "ctx object install" makes an object of a manifest.

Exit status: 0 ok, 1 failed, 2 bad input, 13 refused, 69 unavailable, 70 internal, 130 cancelled.

Examples:
  ctxmcp list --config ~/.config/mcp.json --server github
  ctxmcp project --config ~/.config/mcp.json --server github \\
    --runtime-config /workspace/.mcp.json --out manifests
`;

const shared = `  --config FILE     the configuration; \${VAR} in it is taken from your environment
  --server NAME     the server; may be left out when the configuration has one
  --timeout SECONDS how long the server may take to start, for a page of its tools, and for a call
                    without progress (60)
  --workspace DIR   the folder that the server is told of when it asks for roots
  --log             show what the server writes to standard error
  --json            print facts as one line of JSON
`;

export const listHelp = `Usage: ctxmcp list --config FILE --server NAME [OPTION...]

Lists the tools of an MCP server, all pages.

Options:
${shared}
Example:
  ctxmcp list --config ~/.config/mcp.json --server github --json
`;

export const callHelp = `Usage: ctxmcp call --config FILE --server NAME [OPTION...] TOOL [JSON]

Calls a tool of an MCP server with the JSON object as its arguments; - reads it from standard input.
The exit status is 1 when the tool says that it failed.

Options:
${shared}  --total SECONDS   how long a call may take in all (600)
  --keep DIR        write images, sounds and other bytes of the result into this folder

Example:
  ctxmcp call --config ~/.config/mcp.json --server github search_issues '{"query": "crash"}'
`;

export const projectHelp = `Usage: ctxmcp project --config FILE --server NAME --runtime-config PATH --out DIR [OPTION...]

Writes two files for each tool of an MCP server into DIR: SERVER.TOOL.manifest.json and SERVER.TOOL,
the executable that it is about; of a tool with an output schema also SERVER.TOOL.definition.json, for
--diff. Nothing is installed and nothing is granted. A tool whose name or schema cannot be an object's
is skipped, and the summary says why.

Options:
  --runtime-config PATH
                    the configuration as the agent sees it, an absolute path; it is named, not copied
  --out DIR         where the files go
  --only NAME       this tool of the server; may be given more than once
  --dry-run         say what would be written and write nothing
  --force           replace files that say something else
  --diff            show what the server says otherwise than the manifests in DIR, and write nothing;
                    the exit status is 1 when there is something
${shared}
Example:
  ctxmcp project --config ~/.config/mcp.json --server github \\
    --runtime-config /workspace/.mcp.json --out manifests
  ctx object check manifests/github.search_issues.manifest.json
`;
