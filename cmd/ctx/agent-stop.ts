// `ctx agent stop`: ends the terminal of a session with everything that runs in it.

import { fail } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { askOnce, linkAgent } from "./agent-link.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { sessionOf } from "./session-option.ts";
import { shownFrame, stateText } from "./terminal-facts.ts";
import { terminalOptions } from "./terminal-word.ts";

export const spec: CommandSpec = {
  name: "agent stop",
  words: "<agent>",
  summary: "Ends the terminal of an agent's session and everything that runs in it.",
  more: "What it showed and how it ended stay: see ctx terminal status and ctx terminal output.\n",
  positionals: { agent: "Name of the agent" },
  options: terminalOptions,
  examples: [["agent stop coder --session build", "resolves when all of it is gone"]],
};

export async function run(args: Arguments): Promise<number> {
  const agent = args.need("agent");
  const context = await linkAgent(args, agent);
  const session = sessionOf(args, context);
  const id = `ctx-stop-${crypto.randomUUID()}`;
  const frames = await askOnce(context, { op: "stop", id, session });
  const facts = frames.map((frame) => shownFrame(agent, frame)).find((one) => one !== undefined);
  if (facts === undefined) fail("EIO", `the server of agent "${agent}" named no terminal`);
  if (args.flag("json")) printJson(facts);
  else print(`${facts.terminal} ${stateText(facts)}`);
  return 0;
}
