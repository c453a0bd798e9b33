// `ctx terminal create`: the terminal of an agent's session, which is what `ctx agent start` starts.

import { startMore, startOptions, startTerminal } from "./agent-start.ts";
import type { Arguments, CommandSpec } from "./command.ts";

export const spec: CommandSpec = {
  name: "terminal create",
  words: "<agent> [command..]",
  summary: "Starts the terminal of an agent's session, as ctx agent start does.",
  more: startMore,
  positionals: { agent: "Name of the agent", command: "Runs in place of the tool shell" },
  options: startOptions,
  examples: [["terminal create coder --session build", "then: ctx terminal attach coder"]],
};

export function run(args: Arguments): Promise<number> {
  return startTerminal(args, args.need("agent"));
}
