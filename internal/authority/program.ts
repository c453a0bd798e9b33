// May an agent's own program be started as the agent: as whom it runs, whether it may reach and
// execute the file, and whether a mount forbids that. No policy is asked: an agent is itself.

import { fail } from "../abi/mod.ts";
import { replacementFault } from "../install/mod.ts";
import { agentFacts, type GatherInput, modesOf } from "./gather.ts";
import { identityLayer } from "./identity-layer.ts";
import { modeLayer, mountLayer } from "./place-layers.ts";
import type { Facts, Question, Verdict } from "./types.ts";

/** In the view, `/ctx/agent/<name>`. */
export function programPath(agent: string): string {
  return `/ctx/agent/${agent}`;
}

/** Throws ENOENT or EACCES when the program cannot even be looked at. */
export function authorizeProgram(input: Omit<GatherInput, "question">): Verdict {
  const { tree, agent, controls } = input;
  const half = replacementFault(tree, `agent/${agent}`);
  if (half !== undefined) fail("EACCES", half);
  const path = programPath(agent);
  const policyFile = `agent/${agent}.d/policy`;
  const place = { search: [], path, modes: modesOf(tree, path), policyFile };
  const facts: Facts = {
    ...agentFacts(input),
    tool: { ...place, policy: controls.policy, defect: undefined },
    modelPolicy: undefined,
    exists: true,
  };
  // The layers of a place look at an executable, which questions of this class have.
  const question: Question = { object: { class: "tool", name: agent }, permission: "execute" };
  const layers = [identityLayer(facts), modeLayer(facts, question), mountLayer(facts, question)];
  const allowed = layers.every((layer) => layer.allowed);
  return { allowed, code: allowed ? undefined : "EACCES", layers };
}
