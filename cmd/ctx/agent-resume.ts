// `ctx agent resume`: what happened in a session, from a cursor on, and what still happens.

import { linkAgent } from "./agent-link.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { conclude, follow, printSummary } from "./follow.ts";
import { scopeOf, sessionOf, sessionOptions } from "./session-option.ts";

export const spec: CommandSpec = {
  name: "agent resume",
  words: "<agent>",
  summary: "Replays a session from a cursor and follows its active run to the end.",
  positionals: { agent: "Name of the agent" },
  options: {
    ...sessionOptions,
    after: { type: "string", describe: "Cursor: the id or seq of the last frame already seen" },
    raw: { type: "boolean", describe: "Print the frames as they come, one JSON object a line" },
  },
  examples: [["agent resume coder --session build-7", "after a lost connection"]],
};

export async function run(args: Arguments): Promise<number> {
  const scope = scopeOf(args);
  const after = args.text("after");
  const context = await linkAgent(args, args.need("agent"));
  const session = sessionOf(args, context);
  const form = args.flag("raw") ? "raw" : args.flag("json") ? "json" : "text";
  const request = { op: "resume", session, scope, after } as const;
  const summary = await follow(context, request, { form, showUser: true });
  if (form === "json") printSummary(summary, session);
  // Nothing after the cursor is a whole answer too.
  if (summary.status === undefined && summary.code === undefined) return 0;
  return conclude(context, summary, session);
}
