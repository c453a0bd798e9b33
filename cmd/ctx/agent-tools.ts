// `ctx agent tools`: every tool of the agent's CTX_PATH with the verdict that a call would get.

import { print, printJson } from "../../internal/cli/mod.ts";
import { toolNames } from "../../internal/tree/mod.ts";
import { missingLines, type Ruling, rule } from "./agent-grants.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { loadAgentContext } from "./context.ts";
import { serverIdentity } from "./server-identity.ts";

export const spec: CommandSpec = {
  name: "agent tools",
  words: "<agent>",
  summary: "Lists the tools on the agent's CTX_PATH and whether it may run each.",
  positionals: { agent: "Name of the agent" },
  options: {},
  examples: [["agent tools reviewer", "what it may run, and what refuses the rest"]],
};

export async function run(args: Arguments): Promise<number> {
  const { places, tree, agent, controls } = loadAgentContext(args, args.need("agent"));
  const server = await serverIdentity(places);
  const names = new Set(controls.path.flatMap((folder) => toolNames(tree, folder)));
  for (const name of names) {
    const question = { object: { class: "tool", name }, permission: "execute" } as const;
    const ruling = rule({ tree, agent, controls, server }, question);
    const direct = controls.tools.includes(name) || name === "tsh";
    if (args.flag("json")) printJson(factsOf(ruling, direct, args.text("source")));
    else print(`${name.padEnd(20)} ${sentenceOf(ruling, direct)}`);
  }
  return 0;
}

function factsOf(ruling: Ruling, direct: boolean, source: string | undefined) {
  const { name, verdict, refusal } = ruling;
  const facts = { tool: name, allowed: verdict.allowed, direct };
  if (refusal === undefined) return facts;
  const { layer, because } = refusal;
  return { ...facts, layer, because, missing: missingLines([ruling], source) };
}

/** Every layer that refuses, so that whoever mends one is not sent back by the next. */
function sentenceOf({ verdict, refusal }: Ruling, direct: boolean): string {
  if (refusal === undefined) return `allowed  ${direct ? "direct" : "through tsh"}`;
  const refused = verdict.layers.filter((layer) => !layer.allowed);
  return `refused  ${refused.map(({ layer, because }) => `${layer}: ${because}`).join("; ")}`;
}
