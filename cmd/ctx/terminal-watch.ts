// `ctx terminal watch`: a terminal, named by its id or its agent; nothing is sent to it.

import type { Arguments, CommandSpec } from "./command.ts";
import { showOptions, showTerminal, watchMore } from "./terminal-show.ts";
import { terminalWord } from "./terminal-word.ts";

export const spec: CommandSpec = {
  name: "terminal watch",
  words: "<terminal>",
  summary: "Shows a terminal and sends nothing to it.",
  more: watchMore,
  positionals: { terminal: terminalWord },
  options: showOptions,
  examples: [
    ["terminal watch terminal-coder-default", "by its id; Ctrl-C leaves"],
    ["terminal watch coder --json", "frames as JSON, one a line"],
  ],
};

export function run(args: Arguments): Promise<number> {
  return showTerminal(args, args.need("terminal"), "watch");
}
