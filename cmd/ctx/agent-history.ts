// `ctx agent history`: the messages of a session, from its files; no server is needed.

import {
  escapeText,
  print,
  printJson,
  printRaw,
  styled,
  wantsColour,
} from "../../internal/cli/mod.ts";
import type { MessageRecord } from "../../internal/session-log/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { openAgent } from "./context.ts";
import { newestMessages, textOf } from "./messages.ts";
import { keptScope, keptSessionHome, sessionOf, sessionOptions } from "./session-option.ts";

/** Messages shown when nobody says how many. */
const countUsual = 20;

export const spec: CommandSpec = {
  name: "agent history",
  words: "<agent>",
  summary: "Prints the last messages of a session, oldest first.",
  positionals: { agent: "Name of the agent" },
  options: {
    ...sessionOptions,
    scope: keptScope,
    count: { type: "string", alias: "n", describe: `Messages to print (default: ${countUsual})` },
  },
  examples: [["agent history coder -n 4", "the last four messages"]],
};

export function run(args: Arguments): number {
  const count = args.whole("count", 1) ?? countUsual;
  const context = openAgent(args, args.need("agent"));
  const home = keptSessionHome(args, context);
  const session = sessionOf(args, context);
  const found: MessageRecord[] = [];
  for (const record of newestMessages({ agent: context.agent, home, session })) {
    found.push(record);
    if (found.length === count) break;
  }
  const colour = wantsColour(1, process.env);
  for (const record of found.reverse()) {
    if (args.flag("json")) printJson(record);
    else {
      const who = record.role === "user" ? "you" : context.agent;
      printRaw(`${styled(colour, "bold", escapeText(`${who}  ${record.ts}`))}\n`);
      print(`${textOf(record).replace(/\n+$/, "")}\n`);
    }
  }
  return 0;
}
