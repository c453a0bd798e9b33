// The models that an agent may use: those are the ones that exist in its view, as programs that ask
// the host.

import { join } from "node:path";
import { fail, type ModelRef } from "../abi/mod.ts";
import { authorize, type Question, type VisibleInput, visibleModels } from "../authority/mod.ts";
import type { VisibleModel } from "../launch/mod.ts";
import { modelName } from "../tree/mod.ts";
import { explainHint, refusalReason } from "./report.ts";

export function usableModels(input: VisibleInput): VisibleModel[] {
  return visibleModels(input).map((name) => ({
    viewPath: `/ctx/model/${name}`,
    hostPath: join(input.tree.source, "model", name),
  }));
}

/** Throws the explained refusal unless the agent may use the model now. */
export function requireModel(input: VisibleInput, ref: ModelRef): void {
  const name = modelName(ref);
  const question: Question = { object: { class: "model", name }, permission: "use" };
  const { verdict } = authorize({ ...input, question });
  if (verdict.allowed) return;
  const reason = refusalReason(verdict);
  const message = `model "${name}" is refused for agent "${input.agent}": ${reason}`;
  fail(verdict.code ?? "EACCES", message, { hint: explainHint(input.agent, question) });
}
