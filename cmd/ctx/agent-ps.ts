// `ctx agent ps`: the terminals that live now, as the server knows them by their receipts.

import { coded } from "../../internal/abi/mod.ts";
import { note } from "../../internal/cli/mod.ts";
import { readTerminal, terminalSessions } from "../../internal/client/mod.ts";
import { agentNames, loadAgent } from "../../internal/tree/mod.ts";
import { askOnce } from "./agent-link.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { type AgentContext, openAgent, openContext } from "./context.ts";
import {
  lookAt,
  printShown,
  type ShownTerminal,
  shownFiles,
  shownFrame,
} from "./terminal-facts.ts";

export const spec: CommandSpec = {
  name: "agent ps",
  words: "[agent]",
  summary: "Lists the terminals that run now, of all agents or of one.",
  more: "Those that have ended are in ctx terminal list.\n",
  positionals: { agent: "Name of the agent (default: all)" },
  options: {},
  examples: [
    ["agent ps", "id, state, since when, working folder"],
    ["agent ps coder --json", "with supervisor, unit and socket"],
  ],
};

export async function run(args: Arguments): Promise<number> {
  const named = args.text("agent");
  const agents = named === undefined ? sound(args) : [named];
  let exit = 0;
  for (const agent of agents) {
    try {
      for (const facts of await living(openAgent(args, agent))) printShown(args, facts);
    } catch (error) {
      // One that cannot be asked hides no other one.
      if (named !== undefined) throw error;
      const { code, message } = coded(error);
      note(`${agent}: ${message} [${code}]`);
      exit = 1;
    }
  }
  return exit;
}

/** As the server says, or without one, and none is started for this, those whose socket answers. */
async function living(context: AgentContext): Promise<ShownTerminal[]> {
  const { agent, tree, controls } = context;
  try {
    const frames = await askOnce(context, { op: "ps" });
    return frames.map((frame) => shownFrame(agent, frame)).filter((one) => one !== undefined);
  } catch (error) {
    if (coded(error).code !== "EHOSTDOWN") throw error;
  }
  const found: ShownTerminal[] = [];
  for (const session of terminalSessions(tree.source, agent, controls.owner)) {
    const name = { agent, session, owner: controls.owner };
    const files = readTerminal(tree.source, name);
    if (files !== undefined && (await lookAt(context, name)).reachable) {
      found.push(shownFiles(files));
    }
  }
  return found;
}

/** Agents whose definition can be read; the others have no terminal. */
function sound(args: Arguments): string[] {
  const { tree } = openContext(args);
  return agentNames(tree).filter((agent) => {
    try {
      loadAgent(tree, agent);
      return true;
    } catch {
      return false;
    }
  });
}
