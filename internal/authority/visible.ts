// Decisions together with what they are about: one tool by name, or every tool of CTX_PATH that the
// agent may execute. What is not in that list does not exist in the agent's view.

import type { AgentControls } from "../control/mod.ts";
import { type ToolObject, type Tree, toolNames } from "../tree/mod.ts";
import { decide } from "./decide.ts";
import { type AgentFacts, agentFacts, type GatherInput, gather, type Server } from "./gather.ts";
import type { Verdict } from "./types.ts";

export interface Authorized {
  readonly tool: ToolObject;
  readonly verdict: Verdict;
}

/** The decision, and the tool as it was read for it; undefined unless the question found one. */
export function authorize(
  input: GatherInput,
  common?: AgentFacts,
): { verdict: Verdict; tool: ToolObject | undefined } {
  const { facts, tool } = gather(input, common);
  return { verdict: decide(facts, input.question), tool };
}

export interface VisibleInput {
  readonly tree: Tree;
  readonly agent: string;
  readonly controls: AgentControls;
  readonly server: Server;
}

/** In the order of CTX_PATH, names ascending in each folder; a name counts where it is hit first. */
export function visibleTools(input: VisibleInput): Authorized[] {
  const names = new Set(input.controls.path.flatMap((folder) => namesIn(input.tree, folder)));
  const common = agentFacts(input);
  const visible: Authorized[] = [];
  for (const name of names) {
    const question = { object: { class: "tool", name }, permission: "execute" } as const;
    const { verdict, tool } = authorize({ ...input, question }, common);
    if (verdict.allowed && tool !== undefined) visible.push({ tool, verdict });
  }
  return visible;
}

/** Names of the models that the agent may use, in the order of its policy, which has to name each. */
export function visibleModels(input: VisibleInput): string[] {
  const { policy, label } = input.controls;
  const named = policy.lines.filter(
    ({ subject, object, permission }) =>
      subject === label.type && object.class === "model" && permission === "use",
  );
  const names = new Set(named.map(({ object }) => object.name));
  const common = agentFacts(input);
  return [...names].filter((name) => {
    const question = { object: { class: "model", name }, permission: "use" } as const;
    try {
      return authorize({ ...input, question }, common).verdict.allowed;
    } catch {
      // A model that cannot be read says why when it is used.
      return false;
    }
  });
}

/** A folder that cannot be listed hides its own tools and no others. */
function namesIn(tree: Tree, folder: string): readonly string[] {
  try {
    return toolNames(tree, folder);
  } catch {
    return [];
  }
}
