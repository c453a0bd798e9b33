// The system message of an agent, from its files as they are now. `ctx agent prompt` shows what
// this returns, so that a person reads what a model is given.

import { renderPrompt } from "../prompt/mod.ts";
import { agentText, type Tree } from "../tree/mod.ts";

export interface SystemPromptInput {
  readonly tree: Tree;
  readonly agent: string;
  /** The declared tools that the agent may call without `tsh`, as `offeredTools` found them. */
  readonly directTools: readonly string[];
  readonly now: Date;
}

/** Throws EINVAL with the place when the template names a variable that does not exist. */
export function systemPrompt(input: SystemPromptInput): string {
  const { tree, agent, directTools, now } = input;
  return renderPrompt({
    agent,
    time: now,
    system: agentText(tree, agent, "system.md") ?? "",
    template: agentText(tree, agent, "prompt.template.md"),
    directTools,
  });
}
