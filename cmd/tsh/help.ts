// What `tsh --help` prints.

export const help = `Usage: tsh [TOOL ARG... | WORD...]

The tool shell of agents. Without words it is interactive. Tools are found through CTX_PATH alone,
left to right, never through the host's PATH, and run with their words, streams and exit status
untouched. Each execution is asked of the host, so outside an agent's terminal it is refused with
exit status 13; a person can look at tools there.

Words that it answers itself:
  tools               The tools on CTX_PATH, each with its folder
  which NAME          The file that NAME stands for
  help NAME           What a tool does and which input it takes
  load, pin NAME...   Keep tools' descriptions before the agent; unload, unpin take it back
  loads               What is loaded
                      These five wait for a run of the session to end
  config              CTX_PATH and the bounds of what is loaded
  exit [STATUS]       Leave the interactive shell

A line is words with 'quotes', "quotes" and \\, and nothing else: no variables, pipes or patterns.
For those there are the tools shell.exec and bash. Ctrl-C gives a line up, Ctrl-R searches earlier
ones, Tab completes. The agent's own calls are shown with a mark and take turns with yours.

CTX_PATH is taken from CTX_HOME/.tshrc (one line, CTX_PATH=/ctx/tool:...), then from the
environment, then it is /ctx/tool:/ctx/home/<uid>/tool. For an agent its own CTX_PATH counts.

Options: --version, --help; behind a word --json, --source DIR, --root DIR

Example:
  tsh which fs.read
`;
