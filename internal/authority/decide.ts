// The decision. It looks at facts and at nothing else, evaluates every layer even after a refusal,
// and is the same call for enforcement and for explanation, so that the two cannot differ.

import type { Code } from "../abi/mod.ts";
import { permissionFault } from "../policy/mod.ts";
import { identityLayer } from "./identity-layer.ts";
import { pathLayer } from "./path-layer.ts";
import { modeLayer, mountLayer } from "./place-layers.ts";
import { agentPolicyLayer, labelLayer, objectPolicyLayer, permLayer } from "./policy-layers.ts";
import type { Facts, LayerVerdict, Question, Verdict } from "./types.ts";

/**
 * Every layer must allow. The code of a refusal is EINVAL when the class knows no such permission,
 * ENOENT when the object does not exist, EACCES otherwise.
 */
export function decide(facts: Facts, question: Question): Verdict {
  const layers: readonly LayerVerdict[] = [
    pathLayer(facts, question),
    identityLayer(facts),
    modeLayer(facts, question),
    mountLayer(facts, question),
    permLayer(facts, question),
    labelLayer(facts),
    agentPolicyLayer(facts, question),
    objectPolicyLayer(facts, question),
  ];
  const allowed = layers.every((layer) => layer.allowed);
  return { allowed, code: allowed ? undefined : refusalCode(facts, question), layers };
}

function refusalCode(facts: Facts, question: Question): Code {
  if (permissionFault(question.object, question.permission) !== undefined) return "EINVAL";
  return facts.exists ? "EACCES" : "ENOENT";
}

/** The first layer that refused; undefined when the verdict allows. */
export function firstRefusal(verdict: Verdict): LayerVerdict | undefined {
  return verdict.layers.find((layer) => !layer.allowed);
}
