// The built-in tools around the terminal: programs of the host that a person works in, and the
// configuration of the tool shell.

import { type BuiltinTool, commandTimeoutMsMax, path, schema, writers } from "./builtin-tool.ts";

/** Words of one command line. Past it the call is refused by its schema. */
const hostProgramWordsMax = 4096;

/** A program of the host that a person works in; a call gives it its words and gets what it prints. */
const hostProgram = (name: string, what: string): BuiltinTool => ({
  name,
  served: true,
  program: name,
  description: `${what} In a terminal it is interactive and leads back when it ends. A call runs it with args and no input, and returns its output and exit code.`,
  cap: ["read", "write", "exec"],
  schema: schema(
    {
      args: {
        type: "array",
        items: { type: "string" },
        maxItems: hostProgramWordsMax,
        description: "The program's arguments, each as it is, with no shell between.",
      },
      cwd: path("Folder to run in; the agent's current folder when absent. A folder"),
      timeout_ms: {
        type: "integer",
        minimum: 1,
        maximum: commandTimeoutMsMax,
        description: `Milliseconds until it is stopped, 1 to ${commandTimeoutMsMax}. Default: the time allowed for one call by the host.`,
      },
    },
    ["args"],
  ),
  subjects: writers,
});

export const bash = hostProgram("bash", "The shell bash of this machine, in the agent's sandbox.");
export const tmux = hostProgram(
  "tmux",
  "The terminal multiplexer tmux: sessions go on in the background while the agent's terminal lives.",
);
export const zellij = hostProgram(
  "zellij",
  "The terminal workspace zellij: sessions go on in the background while the agent's terminal lives.",
);

const count = (maximum: number, description: string) => ({
  type: "integer",
  minimum: 1,
  maximum,
  description,
});

export const tshConfig: BuiltinTool = {
  name: "tsh.config",
  served: true,
  description:
    "Show how tsh bounds what a session has loaded, and change it for the whole tree. Without fields it shows the configuration and changes nothing. In a sandbox the tree is read-only, so there it only shows.",
  cap: ["read", "write"],
  schema: schema(
    {
      max_loaded_tools: count(2 ** 32 - 1, "Most tools loaded and not pinned. Default 64."),
      cache_capacity: count(2 ** 32 - 1, "Tools whose use is counted. Default 32."),
      window_percent: count(100, "Share of these that newcomers have, in percent. Default 1."),
    },
    [],
  ),
  subjects: writers,
};
