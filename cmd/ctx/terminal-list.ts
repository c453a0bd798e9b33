// `ctx terminal list`: the terminals that sessions have or had, from their files.

import { readTerminal, terminalSessions } from "../../internal/client/mod.ts";
import { agentNames, loadAgent, treeOwner } from "../../internal/tree/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { becomeOwner, type Context, openAgent, openContext } from "./context.ts";
import { printShown, type ShownTerminal, shownFiles } from "./terminal-facts.ts";

export const spec: CommandSpec = {
  name: "terminal list",
  words: "[agent]",
  summary: "Lists the terminals of all sessions, or of one agent's, the ended ones too.",
  positionals: { agent: "Name of the agent (default: all)" },
  options: {},
  examples: [
    ["terminal list", "id, state, since when, working folder"],
    ["terminal list coder --json", "one JSON object a terminal"],
  ],
};

export function run(args: Arguments): number {
  for (const facts of terminalsOf(args, args.text("agent"))) printShown(args, facts);
  return 0;
}

/** Of one agent, which must exist, or of all that belong to the tree's owner. */
export function* terminalsOf(args: Arguments, agent: string | undefined): Generator<ShownTerminal> {
  if (agent !== undefined) {
    const context = openAgent(args, agent);
    yield* ofAgent(context, agent, context.controls.owner);
    return;
  }
  const context = openContext(args);
  const owner = treeOwner(context.tree.source);
  if (owner !== undefined) becomeOwner(owner.uid, owner.gid);
  for (const name of agentNames(context.tree)) {
    const uid = ownerOf(context, name);
    if (uid !== undefined) yield* ofAgent(context, name, uid);
  }
}

/** Undefined for an agent whose definition is broken, which has no terminal that could be told. */
function ownerOf({ tree }: Context, agent: string): number | undefined {
  try {
    return loadAgent(tree, agent).owner;
  } catch {
    return undefined;
  }
}

function* ofAgent({ tree }: Context, agent: string, owner: number): Generator<ShownTerminal> {
  for (const session of terminalSessions(tree.source, agent, owner)) {
    const files = readTerminal(tree.source, { agent, session, owner });
    if (files !== undefined) yield shownFiles(files);
  }
}
