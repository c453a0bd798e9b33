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
  /** The block of the session's loaded tools; absent or empty when there is none. */
  readonly toolInjection?: string;
}

/** The system message of the next step, with the block of tools that are loaded by then. */
export type SystemPrompt = (toolInjection: string) => string;

/** Throws EINVAL with the place when the template names a variable that does not exist. */
export function systemPrompt(input: SystemPromptInput): string {
  return runPrompt(input)(input.toolInjection ?? "");
}

/** The agent's texts as they are now, for a whole run: what is written meanwhile is of the next. */
export function runPrompt(input: Omit<SystemPromptInput, "toolInjection">): SystemPrompt {
  const { tree, agent, directTools, now } = input;
  const system = agentText(tree, agent, "system.md") ?? "";
  const template = agentText(tree, agent, "prompt.template.md");
  const inputs = { agent, time: now, system, template, directTools };
  return (injection) => renderPrompt({ ...inputs, toolInjection: injection || undefined });
}
