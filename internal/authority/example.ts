// Facts of a question that every layer allows, and the ways to change one thing about them. Tests of
// the decision start from here.

import type { MountLine } from "../control/mod.ts";
import { parsePolicy } from "../policy/mod.ts";
import type { Facts, Question } from "./mod.ts";

export function policy(...lines: readonly string[]) {
  const parsed = parsePolicy(lines.map((line) => `${line}\n`).join(""));
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.value;
}

export const write: Question = {
  object: { class: "tool", name: "fs.write" },
  permission: "execute",
};
export const line = "allow coder_t tool:fs.write execute";

export const tool: NonNullable<Facts["tool"]> = {
  search: [{ folder: "/ctx/tool", found: "executable" }],
  path: "/ctx/tool/fs.write",
  modes: [
    { path: "/ctx/tool", uid: 0, gid: 0, mode: 0o40755 },
    { path: "/ctx/tool/fs.write", uid: 0, gid: 0, mode: 0o100755 },
  ],
  policy: policy("# tool", line),
  policyFile: "tool/fs.write.d/policy",
  defect: undefined,
};

export const facts: Facts = {
  agent: "coder",
  controls: "agent/coder.d",
  identity: {
    uid: 1000,
    gid: 1000,
    groups: [],
    serverUid: 0,
    serverGid: 0,
    serverGroups: [],
    rootAgents: false,
  },
  perm: { read: true, write: true, execute: false },
  permText: "rw-",
  subject: "coder_t",
  policy: policy(line),
  policyFile: "agent/coder.d/policy",
  permFile: "agent/coder.d/perm",
  labelFile: "agent/coder.d/label",
  mounts: [],
  tool,
  modelPolicy: undefined,
  exists: true,
};

export const identity = (changed: Partial<Facts["identity"]>): Partial<Facts> => ({
  identity: { ...facts.identity, ...changed },
});
export const withTool = (changed: Partial<typeof tool>): Partial<Facts> => ({
  tool: { ...tool, ...changed },
});
export const mount = (target: string, noexec: boolean, at = 1): MountLine => ({
  source: "/srv/tools",
  target,
  access: "ro",
  recursive: false,
  nosuid: true,
  nodev: false,
  noexec,
  line: at,
});
