// What the files say: the perm ceiling, the label, the agent's policy and the object's own.

import { quoted } from "../abi/mod.ts";
import { formatPerm, type Perm, type Policy } from "../control/mod.ts";
import { formatAllow, permissionFault } from "../policy/mod.ts";
import { allows, refuses } from "./layer.ts";
import type { Facts, Layer, LayerVerdict, Question } from "./types.ts";

/** The letter that each gated built-in tool needs. Every other tool is free of `perm`. */
const gates: ReadonlyMap<string, keyof Perm> = new Map([
  ["fs.read", "read"],
  ["fs.list", "read"],
  ["fs.stat", "read"],
  ["fs.write", "write"],
  ["fs.replace", "write"],
  ["shell.exec", "execute"],
  ["bash", "execute"],
  ["tmux", "execute"],
  ["zellij", "execute"],
]);

const letters: Readonly<Record<keyof Perm, string>> = { read: "r", write: "w", execute: "x" };

/** The `perm` letter that a tool needs; undefined for tools that `perm` does not gate. */
export function gateOf(tool: string): keyof Perm | undefined {
  return gates.get(tool);
}

export function permLayer(facts: Facts, question: Question): LayerVerdict {
  const { object } = question;
  const gate = object.class === "tool" ? gateOf(object.name) : undefined;
  if (gate === undefined) {
    return allows("perm", `perm does not gate ${object.class} ${quoted(object.name)}`);
  }
  const at = `${facts.permFile}:1`;
  const because = `perm is ${facts.permText}, ${object.name} needs ${letters[gate]}`;
  if (facts.perm[gate]) return allows("perm", because, at);
  const line = formatPerm({ ...facts.perm, [gate]: true });
  return refuses("perm", because, { at, fix: { file: facts.permFile, line } });
}

/** A label is valid by construction and grants nothing; it only says who the policies mean. */
export function labelLayer(facts: Facts): LayerVerdict {
  return allows("label", `the policy subject is ${facts.subject}`, `${facts.labelFile}:1`);
}

export function agentPolicyLayer(facts: Facts, question: Question): LayerVerdict {
  const fault = permissionFault(question.object, question.permission);
  if (fault !== undefined) return refuses("agent_policy", fault);
  return look("agent_policy", facts.policy, facts.policyFile, facts.subject, question);
}

export function objectPolicyLayer(facts: Facts, question: Question): LayerVerdict {
  const { object } = question;
  if (object.class === "model") {
    const own = facts.modelPolicy;
    if (own === undefined) return allows("object_policy", "the model has no policy of its own");
    return look("object_policy", own.policy, own.file, facts.subject, question);
  }
  if (object.class !== "tool") {
    return allows("object_policy", `${object.class} is decided by the agent's policy alone`);
  }
  const { tool } = facts;
  if (tool === undefined || tool.path === undefined) {
    return allows("object_policy", "there is no tool to ask");
  }
  // One that is only not installed has a policy to answer by, so that all that is missing is said.
  if (tool.defect !== undefined && tool.policy === undefined) {
    return allows("object_policy", "an unavailable tool's policy is not asked");
  }
  if (tool.policy !== undefined) {
    return look("object_policy", tool.policy, tool.policyFile, facts.subject, question);
  }
  const line = formatAllow(facts.subject, object, question.permission);
  const because = `${tool.policyFile} is missing, so it allows nothing`;
  return refuses("object_policy", because, { fix: { file: tool.policyFile, line } });
}

function look(
  layer: Layer,
  policy: Policy,
  file: string,
  subject: string,
  { object, permission }: Question,
): LayerVerdict {
  const found = policy.find(subject, object, permission);
  const line = formatAllow(subject, object, permission);
  if (found !== undefined) return allows(layer, line, `${file}:${found}`);
  return refuses(layer, `no line of ${file} says: ${line}`, { fix: { file, line } });
}
