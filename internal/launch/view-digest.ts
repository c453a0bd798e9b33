// Whether two launches of one session would see the same: the folders, as whom, with which network,
// environment and tools. A terminal keeps the one it was started with; a call that would have another
// one now cannot run in it.

import { createHash } from "node:crypto";
import { canonicalJson } from "./prepared.ts";
import type { StandbyRequest } from "./types.ts";

export type ViewFacts = Pick<
  StandbyRequest,
  "agent" | "controls" | "home" | "network" | "visible" | "models" | "workspace"
>;

/** SHA-256 in hex. What a person adds at a start is no part of it, but for the workspace. */
export function viewDigest(facts: ViewFacts): string {
  const { agent, controls, home, network, visible, models, workspace } = facts;
  const { uid, gid, groups, root, env, path, label } = controls;
  const mount = controls.mount.map(({ line: _, ...one }) => one);
  const tools = visible.map(({ name, viewPath, hostPath, builtin }) => [
    ...[name, viewPath, hostPath, builtin],
  ]);
  const value = {
    ...{ agent, home, network, workspace, uid, gid, groups, root, path, mount, tools },
    env: [...env],
    label: label.type,
    models: models.map(({ viewPath, hostPath }) => [viewPath, hostPath]),
  };
  return createHash("sha256").update(canonicalJson(value)).digest("hex");
}
