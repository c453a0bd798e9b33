// `ctx agent cancel`: stops a run, by its id or as the active one of a session.

import { fail } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { activeRun, askOnce, linkAgent } from "./agent-link.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { scopeOf, sessionOf, sessionOptions } from "./session-option.ts";

export const spec: CommandSpec = {
  name: "agent cancel",
  words: "<agent> [run]",
  summary: "Cancels a run; without a run id, the active run of the session.",
  positionals: { agent: "Name of the agent", run: "Id of the run, ctx-…" },
  options: sessionOptions,
  examples: [["agent cancel coder --session build-7", "from another terminal"]],
};

export async function run(args: Arguments): Promise<number> {
  const scope = scopeOf(args);
  const context = await linkAgent(args, args.need("agent"));
  const session = sessionOf(args, context);
  const run = args.text("run") ?? (await activeRun(context, session, scope));
  if (run === undefined) {
    return fail("ENOENT", `session "${session}" of agent "${context.agent}" has no active run`);
  }
  const frames = await askOnce(context, { op: "cancel", id: run });
  const done = frames.find((frame) => frame.type === "done");
  const status = done?.type === "done" ? done.status : "cancelled";
  if (args.flag("json")) printJson({ run, status });
  else print(`${run} ${status}`);
  return 0;
}
