// `ctx agent output`: the last answer of a session, for a script to take.

import { fail } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { openAgent } from "./context.ts";
import { newestMessages, textOf } from "./messages.ts";
import { keptScope, keptSessionHome, sessionOf, sessionOptions } from "./session-option.ts";

export const spec: CommandSpec = {
  name: "agent output",
  words: "<agent>",
  summary: "Prints the last answer of a session.",
  positionals: { agent: "Name of the agent" },
  options: { ...sessionOptions, scope: keptScope },
  examples: [["agent output coder --session build-7", "the last answer there"]],
};

export function run(args: Arguments): number {
  const context = openAgent(args, args.need("agent"));
  const home = keptSessionHome(args, context);
  const session = sessionOf(args, context);
  for (const record of newestMessages({ agent: context.agent, home, session })) {
    if (record.role !== "assistant") continue;
    if (args.flag("json")) printJson(record);
    else print(textOf(record).replace(/\n$/, ""));
    return 0;
  }
  return fail("ENOENT", `session "${session}" of agent "${context.agent}" has no answer yet`);
}
