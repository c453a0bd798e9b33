// `ctx agent watch`: the screen of a session's terminal, with nothing sent to it.

import type { Arguments, CommandSpec } from "./command.ts";
import { showOptions, showTerminal, watchMore } from "./terminal-show.ts";

export const spec: CommandSpec = {
  name: "agent watch",
  words: "<agent>",
  summary: "Shows the terminal of an agent's session and sends nothing to it.",
  more: watchMore,
  positionals: { agent: "Name of the agent" },
  options: showOptions,
  examples: [
    ["agent watch coder", "the current session's terminal; Ctrl-C leaves"],
    ["agent watch coder --json", "frames as JSON, one a line"],
  ],
};

export function run(args: Arguments): Promise<number> {
  return showTerminal(args, args.need("agent"), "watch");
}
