// What `tsh --help` prints.

export const help = `Usage: tsh tools | which NAME | help NAME

The tool shell of agents. Tools are found through CTX_PATH alone, left to right, never through
the host's PATH. A person looks at tools with it; running them is for agents, so outside an agent's
terminal it is refused with exit status 13.

Commands:
  tools          The tools on CTX_PATH, each with its folder
  which NAME     The file that NAME stands for
  help NAME      What a tool does and which input it takes

CTX_PATH is taken from CTX_HOME/.tshrc (one line, CTX_PATH=/ctx/tool:...), then from the
environment, then it is /ctx/tool:/ctx/home/<uid>/tool. For an agent its own CTX_PATH counts.

Options: --version, --help, --json, --source DIR, --root DIR

Example:
  tsh which fs.read
`;
