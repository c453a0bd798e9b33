// A throw-away installation for launch tests: a small tree, its runtime, secrets and configuration
// folders and a workspace, all below one folder of /tmp. Controls are given in memory.

import { chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentControls } from "../../internal/control/mod.ts";
import {
  createLauncher,
  type Launcher,
  type LaunchRequest,
  type StepRequest,
} from "../../internal/launch/mod.ts";
import { policyOf } from "../../internal/policy/mod.ts";
import { openTree, type Places, type ToolObject } from "../../internal/tree/mod.ts";

export interface Scene {
  readonly base: string;
  readonly source: string;
  readonly runtime: string;
  readonly workspace: string;
  readonly agentUid: number;
  readonly serverUid: number;
  readonly groups: readonly number[];
  readonly rootAgents: boolean;
}

/** `serverUid` owns the installation; the agent owns the workspace and its home. */
export function makeScene(input: Pick<Scene, "agentUid" | "serverUid"> & Partial<Scene>): Scene {
  const base = mkdtempSync("/tmp/ctx-scene-");
  const scene: Scene = {
    groups: [],
    rootAgents: false,
    ...input,
    base,
    source: join(base, "tree"),
    runtime: join(base, "run"),
    workspace: join(base, "work"),
  };
  const { agentUid, serverUid } = scene;
  const folder = (path: string, uid: number, mode = 0o755) => {
    mkdirSync(path, { recursive: true });
    chmodSync(path, mode);
    give(path, uid);
  };
  for (const path of [base, scene.source, scene.runtime]) folder(path, serverUid);
  for (const name of ["bin", "model", "agent", "agent/coder.d", "tool", "home"]) {
    folder(join(scene.source, name), serverUid);
  }
  for (const name of ["secrets", "config"]) folder(join(base, name), serverUid, 0o700);
  writeFileSync(join(scene.source, "agent/coder.d/system.md"), "You write code.\n");
  writeFileSync(join(scene.source, "agent/coder.d/policy"), "allow coder_t tool:x execute\n");
  const home = `home/${agentUid}/agent/coder`;
  for (const depth of [2, 3, 4]) {
    folder(join(scene.source, home.split("/").slice(0, depth).join("/")), agentUid);
  }
  const session = join(scene.source, home, "session/default");
  folder(join(scene.source, home, "session"), agentUid);
  folder(session, agentUid);
  writeFileSync(join(session, "events.jsonl"), "{}\n");
  give(join(session, "events.jsonl"), agentUid);
  folder(scene.workspace, agentUid);
  return scene;
}

/** Only root can give files away; a user's scene is the user's own already. */
function give(path: string, uid: number): void {
  if (process.getuid?.() === 0) chownSync(path, uid, uid);
}

export function controlsOf(scene: Scene, change: Partial<AgentControls> = {}): AgentControls {
  return {
    owner: scene.agentUid,
    uid: scene.agentUid,
    gid: process.getuid?.() === scene.agentUid ? (process.getgid?.() ?? 0) : scene.agentUid,
    groups: scene.groups,
    perm: { read: true, write: true, execute: true },
    label: { text: "user_u:agent_r:coder_t:s0", type: "coder_t" },
    iso: "shared",
    parent: undefined,
    life: "owned",
    root: "/",
    cwd: "/workspace",
    env: new Map(),
    path: ["/ctx/tool"],
    mount: [],
    model: [],
    window: "auto",
    policy: policyOf([]),
    tools: [],
    abi: "sdk-envelope-v1",
    approval: "auto",
    ...change,
  };
}

export function toolOf(scene: Scene, name: string): ToolObject {
  return {
    name,
    viewPath: `/ctx/tool/${name}`,
    hostPath: join(scene.source, "tool", name),
    builtin: true,
    description: `The tool ${name}`,
    schema: { type: "object" },
    cap: ["exec"],
    policy: undefined,
    policyFile: `tool/${name}.d/policy`,
  };
}

export function placesOf(scene: Scene): Places {
  return {
    mode: scene.serverUid === 0 ? "system" : "user",
    uid: scene.serverUid,
    source: scene.source,
    runtime: scene.runtime,
    config: join(scene.base, "config"),
    secrets: join(scene.base, "secrets"),
  };
}

export function launcherOf(
  scene: Scene,
  parallelMax = 8,
  ctxBinary = "/nonexistent",
  standbyMs = 60_000,
): Launcher {
  return createLauncher({
    places: placesOf(scene),
    runtime: scene.runtime,
    tree: openTree(scene.source),
    ctxBinary,
    serverUid: scene.serverUid,
    rootAgents: scene.rootAgents,
    parallelMax,
    standbyMs,
  });
}

export function commandRequest(
  scene: Scene,
  args: { readonly cmd: string | readonly string[]; readonly [name: string]: unknown },
  change: Partial<LaunchRequest> = {},
): LaunchRequest {
  const tool = toolOf(scene, "shell.exec");
  return {
    agent: "coder",
    controls: controlsOf(scene),
    session: "default",
    run: `ctx-${"0".repeat(32)}`,
    scope: { kind: "private" },
    home: join(scene.source, `home/${scene.agentUid}/agent/coder`),
    tool,
    args,
    workspace: scene.workspace,
    network: false,
    visible: [tool],
    models: [],
    timeoutMs: 30_000,
    ...change,
  };
}

/** Puts a program in place of the agent's object. */
export function installProgram(scene: Scene, text: string, mode = 0o755): void {
  const path = join(scene.source, "agent/coder");
  writeFileSync(path, text);
  chmodSync(path, mode);
}

/** A step of the scene's agent, which reads one line. */
export function stepRequest(scene: Scene, change: Partial<StepRequest> = {}): StepRequest {
  const { tool: _, args: __, ...base } = commandRequest(scene, { cmd: "true" });
  return {
    ...base,
    program: { viewPath: "/ctx/agent/coder", hostPath: join(scene.source, "agent/coder") },
    step: 0,
    window: undefined,
    stdin: new TextEncoder().encode("{}\n"),
    ...change,
  };
}
