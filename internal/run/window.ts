// The window that a step is told: the setting against the limit of the agent's first model.

import { fail } from "../abi/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import { loadModel, type Tree } from "../tree/mod.ts";
import { candidateWindow, windowCharacters } from "../window/mod.ts";
import { candidatesOf } from "./candidates.ts";

export interface StepWindow {
  readonly tokens: number;
  readonly chars: number;
}

/** Undefined when it is not known. Throws EINVAL for a number that the model does not allow. */
export function stepWindow(tree: Tree, controls: AgentControls): StepWindow | undefined {
  const [selected] = candidatesOf(tree, controls.model.slice(0, 1));
  if (selected === undefined) return undefined;
  const maximum = limitOf(tree, selected);
  const found = candidateWindow(controls.window, { name: selected.name, maximum });
  if (!found.eligible) return fail(found.code, found.message);
  const { window: tokens } = found;
  return tokens === undefined ? undefined : { tokens, chars: windowCharacters(tokens) };
}

/** An agent that never calls its model may name one that cannot be read. */
function limitOf(tree: Tree, { ref }: ReturnType<typeof candidatesOf>[number]) {
  if (ref instanceof Error) return undefined;
  try {
    return loadModel(tree, ref).limit;
  } catch {
    return undefined;
  }
}
