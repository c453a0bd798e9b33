// `ctx agent tools`: every tool of the agent's CTX_PATH with the verdict that a call would get.

import { decide, firstRefusal, gatherFacts } from "../../internal/authority/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { toolNames } from "../../internal/tree/mod.ts";
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
    const verdict = decide(gatherFacts({ tree, agent, controls, server, question }), question);
    const refusal = firstRefusal(verdict);
    const direct = controls.tools.includes(name) || name === "tsh";
    if (args.flag("json")) {
      const because =
        refusal === undefined ? {} : { layer: refusal.layer, because: refusal.because };
      printJson({ tool: name, allowed: verdict.allowed, direct, ...because });
    } else if (refusal === undefined) {
      print(`${name.padEnd(20)} allowed  ${direct ? "direct" : "through tsh"}`);
    } else print(`${name.padEnd(20)} refused  ${refusal.layer}: ${refusal.because}`);
  }
  return 0;
}
