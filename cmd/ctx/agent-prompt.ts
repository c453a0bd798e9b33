// `ctx agent prompt`: the system message as the renderer of the runs makes it, with placeholders
// where only a run has a value.

import { print, printJson } from "../../internal/cli/mod.ts";
import { renderPrompt } from "../../internal/prompt/mod.ts";
import { agentText } from "../../internal/tree/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { openAgent } from "./context.ts";

export const spec: CommandSpec = {
  name: "agent prompt",
  words: "<agent>",
  summary: "Prints the system message that the agent's next run would start with.",
  positionals: { agent: "Name of the agent" },
  options: {},
  examples: [["agent prompt coder", "with placeholders where only a run has a value"]],
};

export function run(args: Arguments): number {
  const { tree, agent, controls } = openAgent(args, args.need("agent"));
  const text = renderPrompt({
    agent,
    time: new Date(),
    system: agentText(tree, agent, "system.md") ?? "",
    template: agentText(tree, agent, "prompt.template.md"),
    directTools: controls.tools,
  });
  if (args.flag("json")) printJson({ agent, prompt: text });
  else print(text.replace(/\n$/, ""));
  return 0;
}
