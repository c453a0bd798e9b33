// `ctx agent attach`: the keyboard and the screen of a session's terminal.

import type { Arguments, CommandSpec } from "./command.ts";
import { showMore, showOptions, showTerminal } from "./terminal-show.ts";

export const spec: CommandSpec = {
  name: "agent attach",
  words: "<agent>",
  summary: "Joins the terminal of an agent's session: its screen and its keyboard.",
  more: showMore,
  positionals: { agent: "Name of the agent" },
  options: showOptions,
  examples: [
    ["agent attach coder", "the current session's terminal"],
    ['agent attach coder --detach-key "^A d"', "leave by Ctrl-A and d"],
  ],
};

export function run(args: Arguments): Promise<number> {
  return showTerminal(args, args.need("agent"), "attach");
}
