// `ctx agent list`: the agents of the tree. A broken one is listed with what is wrong with it.

import { coded } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { agentNames, isModelAgent, loadAgent, readControl } from "../../internal/tree/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { type Context, openContext } from "./context.ts";

export const spec: CommandSpec = {
  name: "agent list",
  words: "",
  summary: "Lists the agents of the tree.",
  positionals: {},
  options: {},
  examples: [["agent list --json", "one JSON object an agent"]],
};

export function run(args: Arguments): number {
  const context = openContext(args);
  for (const name of agentNames(context.tree)) {
    const facts = describe(context, name);
    if (args.flag("json")) printJson(facts);
    else print(line(facts));
  }
  return 0;
}

interface AgentFacts {
  readonly agent: string;
  readonly valid: boolean;
  readonly owner?: number;
  readonly perm?: string;
  readonly model?: string;
  readonly kind?: "model" | "executable";
  readonly code?: string;
  readonly reason?: string;
}

function describe({ tree }: Context, agent: string): AgentFacts {
  try {
    const { owner } = loadAgent(tree, agent);
    const first = (name: string) =>
      readControl(tree, `agent/${agent}.d/${name}`).split("\n", 1)[0] ?? "";
    const kind = isModelAgent(tree, agent) ? "model" : "executable";
    return { agent, valid: true, owner, perm: first("perm"), model: first("model"), kind };
  } catch (error) {
    const { code, message } = coded(error);
    return { agent, valid: false, code, reason: message };
  }
}

function line(facts: AgentFacts): string {
  const name = facts.agent.padEnd(16);
  if (!facts.valid) return `${name} invalid: ${facts.reason} [${facts.code}]`;
  return `${name} ${facts.perm}  ${facts.model}  uid ${facts.owner}  ${facts.kind} agent`;
}
