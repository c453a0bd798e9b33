// `ctx terminal attach`: a terminal, named by its id or its agent.

import type { Arguments, CommandSpec } from "./command.ts";
import { showMore, showOptions, showTerminal } from "./terminal-show.ts";
import { terminalWord } from "./terminal-word.ts";

export const spec: CommandSpec = {
  name: "terminal attach",
  words: "<terminal>",
  summary: "Joins a terminal: its screen and its keyboard.",
  more: showMore,
  positionals: { terminal: terminalWord },
  options: showOptions,
  examples: [
    ["terminal attach terminal-coder-default", "by its id"],
    ['terminal attach coder --detach-key "^A d"', "leave by Ctrl-A and d"],
  ],
};

export function run(args: Arguments): Promise<number> {
  return showTerminal(args, args.need("terminal"), "attach");
}
