import { describe, expect, test } from "bun:test";
import {
  type AgentControlName,
  agentControls,
  controlNames,
  isRuntimeOwned,
  validateControl,
} from "./mod.ts";

describe("the table of agent controls", () => {
  test("holds every control of the specification and no other", () => {
    expect(controlNames("agent")).toEqual([
      ...["owner", "uid", "gid", "groups", "perm", "label", "iso", "parent", "life", "root"],
      ...["cwd", "env", "path", "mount", "model", "window", "policy", "tools", "abi", "approval"],
      ...["system.md", "prompt.template.md", "status", "pid", "log", "meta.json"],
    ]);
  });

  test("says what may be absent, what that means, and what the runtime owns", () => {
    const names = controlNames("agent") as AgentControlName[];
    const required = names.filter((name) => agentControls[name].required);
    expect(required).toEqual([
      "owner",
      "perm",
      "label",
      "path",
      "model",
      "window",
      "policy",
      "abi",
    ]);
    expect(names.filter((name) => isRuntimeOwned("agent", name))).toEqual([
      ...(["status", "pid", "log", "meta.json"] as const),
    ]);
    const absent = Object.fromEntries(names.map((name) => [name, agentControls[name].absent]));
    expect(absent).toMatchObject({
      groups: [],
      iso: "userns",
      life: "owned",
      root: "/",
      cwd: "/workspace",
      env: new Map(),
      mount: [],
      tools: [],
      approval: "auto",
    });
  });

  test("has no tool and no shared control, and says where to go instead", () => {
    expect(validateControl("agent", "tool", "x\n")).toMatchObject({
      ok: false,
      code: "EINVAL",
      reason: 'agent has no control "tool", tools are granted by policy and listed in tools',
    });
    expect(validateControl("agent", "shared", "")).toMatchObject({ ok: false });
    expect(validateControl("agent", "constructor", "")).toMatchObject({ ok: false });
  });
});
