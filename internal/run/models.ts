// The models that an agent may use: those are the ones that exist in its view, as programs that ask
// the host. The agent's own policy has to name each, so nothing else needs to be looked at.

import { join } from "node:path";
import { coded, fail, type ModelRef } from "../abi/mod.ts";
import { authorize, type Question, type VisibleInput } from "../authority/mod.ts";
import type { VisibleModel } from "../launch/mod.ts";
import { modelName } from "../tree/mod.ts";
import { explainHint, refusalReason } from "./report.ts";

export function usableModels(input: VisibleInput): VisibleModel[] {
  const { policy, label } = input.controls;
  const named = policy.lines.filter(
    ({ subject, object, permission }) =>
      subject === label.type && object.class === "model" && permission === "use",
  );
  const names = [...new Set(named.map(({ object }) => object.name))];
  return names.filter((name) => isUsable(input, name)).map((name) => placeOf(input, name));
}

function isUsable(input: VisibleInput, name: string): boolean {
  try {
    return authorize({ ...input, question: useOf(name) }).verdict.allowed;
  } catch (thrown) {
    // A model that cannot be read says so when it is used.
    coded(thrown);
    return false;
  }
}

function placeOf({ tree }: VisibleInput, name: string): VisibleModel {
  return { viewPath: `/ctx/model/${name}`, hostPath: join(tree.source, "model", name) };
}

/** Throws the explained refusal unless the agent may use the model now. */
export function requireModel(input: VisibleInput, ref: ModelRef): void {
  const name = modelName(ref);
  const question = useOf(name);
  const { verdict } = authorize({ ...input, question });
  if (verdict.allowed) return;
  const reason = refusalReason(verdict);
  const message = `model "${name}" is refused for agent "${input.agent}": ${reason}`;
  fail(verdict.code ?? "EACCES", message, { hint: explainHint(input.agent, question) });
}

function useOf(name: string): Question {
  return { object: { class: "model", name }, permission: "use" };
}
