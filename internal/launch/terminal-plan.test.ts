// What a terminal is planned to be: the agent's own view with what a person may add, and no more.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  controlsOf,
  launcherOf,
  makeScene,
  type Scene,
  toolOf,
} from "../../testdata/sandbox/scene.ts";
import type { AgentControls, MountLine } from "../control/mod.ts";
import {
  decodeTerminalPlan,
  encodeTerminalPlan,
  type Launcher,
  type TerminalPlanner,
  type TerminalRequest,
  terminalMountsMax,
  viewDigest,
} from "./mod.ts";

const uid = process.getuid?.() ?? 0;

let scene: Scene;
let launcher: Launcher & TerminalPlanner;

beforeAll(() => {
  scene = makeScene({ agentUid: uid === 0 ? 61_000 : uid, serverUid: uid });
  for (const name of ["ctx", "ctxterm", "tsh"]) writeFileSync(join(scene.source, "bin", name), "");
  for (const name of ["data", "other", "control"]) mkdirSync(join(scene.base, name));
  const made = launcherOf(scene, 8, join(scene.source, "bin/ctx"));
  launcher = made as Launcher & TerminalPlanner;
});
afterAll(async () => {
  await launcher.close();
  rmSync(scene.base, { recursive: true, force: true });
});

const at = (name: string) => join(scene.base, name);

function mount(source: string, target: string, more: Partial<MountLine> = {}): MountLine {
  const flags = { recursive: true, nosuid: false, nodev: false, noexec: false, line: 1 };
  return { source, target, access: "rw", ...flags, ...more };
}

function request(
  change: Partial<TerminalRequest> = {},
  controls: Partial<AgentControls> = {},
): TerminalRequest {
  return {
    ...{ agent: "coder", session: "s", network: false, mounts: [], models: [] },
    controls: controlsOf(scene, controls),
    home: join(scene.source, `home/${scene.agentUid}/agent/coder`),
    visible: [toolOf(scene, "fs.read")],
    control: at("control"),
    ...change,
  };
}

/** What lies at a place of the view. */
function seen(wanted: TerminalRequest, view: string) {
  const { launch } = launcher.planTerminal(wanted);
  const found = launch.spec.binds.findLast((bind) => bind.view === view);
  return found && [found.host, found.access, found.noexec ?? false];
}

describe("a terminal", () => {
  test("runs the tool shell below its owner, or what was asked for", () => {
    const start = ["/ctx/bin/ctxterm", "--listen-fd", "0", "--record", "-", "--"];
    expect(launcher.planTerminal(request()).program).toEqual([...start, "/ctx/bin/tsh"]);
    const command = ["/bin/sh", "-c", "exit 7"];
    expect(launcher.planTerminal(request({ command })).program).toEqual([...start, ...command]);
    expect(() => launcher.planTerminal(request({ command: [] }))).toThrow("is empty");
    expect(() => launcher.planTerminal(request({ command: ["a\0b"] }))).toThrow("NUL");
  });

  test("starts in the workspace, without one at home, or where it is told", () => {
    const workspace = mount(scene.workspace, "/workspace");
    const folder = (wanted: TerminalRequest) => launcher.planTerminal(wanted).launch.spec.cwd;
    expect(folder(request({ mounts: [workspace] }))).toBe("/workspace");
    expect(folder(request())).toBe("/home/agent");
    expect(folder(request({ cwd: "/tmp" }))).toBe("/tmp");
    expect(() => folder(request({ cwd: "/workspace" }))).toThrow("lies outside");
  });

  test("has an agent's own variables, and a TERM of its own or of the agent", () => {
    const env = (own: readonly (readonly [string, string])[]) =>
      launcher.planTerminal(request({}, { env: new Map(own) })).launch.spec.env;
    expect(env([]).get("TERM")).toBe("xterm-256color");
    expect(env([["TERM", "vt100"]]).get("TERM")).toBe("vt100");
    expect(env([["EDITOR", "vi"]]).get("EDITOR")).toBe("vi");
    expect(env([["CTX_AGENT", "another"]]).get("CTX_AGENT")).toBe("coder");
    expect(env([]).has("CTX_SESSION")).toBe(false);
  });

  test("of an agent that is not its owner is refused", () => {
    const foreign = () => launcher.planTerminal(request({}, { owner: scene.agentUid + 1 }));
    expect(foreign).toThrow(expect.objectContaining({ code: "EACCES" }));
  });

  test("goes to the launch and comes out as it was, but for whose it was to become", () => {
    const plan = launcher.planTerminal(request({ mounts: [mount(scene.workspace, "/workspace")] }));
    const there = decodeTerminalPlan(JSON.parse(JSON.stringify(encodeTerminalPlan(plan))));
    const { identity } = plan.launch;
    const launch = { ...plan.launch, identity: { ...identity, become: undefined } };
    expect(there).toEqual({ ...plan, launch });
  });
});

describe("a folder that a person adds", () => {
  test("is there as it was asked for", () => {
    const mounts = [mount(at("data"), "/data", { access: "ro" }), mount(at("other"), "/other")];
    expect(seen(request({ mounts }), "/data")).toEqual([at("data"), "ro", false]);
    expect(seen(request({ mounts }), "/other")).toEqual([at("other"), "rw", false]);
  });

  test("is the workspace, also read-only, in place of the agent's own", () => {
    const own = { mount: [mount(at("other"), "/workspace")] };
    expect(seen(request({}, own), "/workspace")).toEqual([at("other"), "rw", false]);
    for (const access of ["rw", "ro"] as const) {
      const mounts = [mount(scene.workspace, "/workspace", { access })];
      expect(seen(request({ mounts }, own), "/workspace")).toEqual([
        scene.workspace,
        access,
        false,
      ]);
    }
  });

  test("has its .git read-only", () => {
    mkdirSync(join(at("data"), ".git"));
    const mounts = [mount(at("data"), "/data")];
    expect(seen(request({ mounts }), "/data/.git")).toEqual([at("data/.git"), "ro", false]);
  });

  test.each([
    ["is read-only for the agent", "data", "/mine"],
    ["lies in what is", "data/.git", "/mine"],
    ["holds what is", ".", "/mine"],
  ])("is not writable when it %s", (_why, name, target) => {
    const own = { mount: [mount(at("data"), "/data", { access: "ro" })] };
    const wanted = (access: "ro" | "rw") =>
      request({ mounts: [mount(join(scene.base, name), target, { access })] }, own);
    const plan = () => launcher.planTerminal(wanted("rw"));
    expect(plan).toThrow(expect.objectContaining({ code: "EACCES" }));
    if (name !== ".") expect(seen(wanted("ro"), target)?.[1]).toBe("ro");
  });

  test("holds no programs where the agent may run none of it", () => {
    const own = { mount: [mount(at("data"), "/data", { noexec: true })] };
    const added = (target: string) => request({ mounts: [mount(at("data"), target)] }, own);
    expect(seen(added("/mine"), "/mine")).toEqual([at("data"), "rw", true]);
    expect(() => launcher.planTerminal(added("/workspace"))).toThrow("may not be run");
  });

  test.each(["/data", "/data/below", "/"])("does not change what the agent has: %s", (target) => {
    const own = { mount: [mount(at("data"), "/data/below/it")] };
    const mounts = [mount(at("other"), target)];
    const plan = () => launcher.planTerminal(request({ mounts }, own));
    expect(plan).toThrow(expect.objectContaining({ code: "EACCES" }));
  });

  test("is one at each place, and they are not many", () => {
    const twice = [mount(at("data"), "/data"), mount(at("other"), "/data")];
    expect(() => launcher.planTerminal(request({ mounts: twice }))).toThrow("twice");
    const many = Array.from({ length: terminalMountsMax + 1 }, (_, n) =>
      mount(at("data"), `/${n}`),
    );
    expect(() => launcher.planTerminal(request({ mounts: many }))).toThrow("at most");
  });

  test("is none that no workspace may be", () => {
    for (const source of ["/etc", "/", scene.source, scene.runtime]) {
      const plan = () => launcher.planTerminal(request({ mounts: [mount(source, "/data")] }));
      expect(plan).toThrow(expect.objectContaining({ code: "EACCES" }));
    }
  });
});

describe("viewDigest()", () => {
  const digest = (wanted: TerminalRequest, workspace?: string) =>
    viewDigest({ ...wanted, workspace });

  test("is that of a call with the same workspace, whatever else a person added", () => {
    const mounts = [mount(scene.workspace, "/workspace"), mount(at("data"), "/data")];
    const plan = launcher.planTerminal(request({ mounts }));
    expect(plan.view).toBe(digest(request(), scene.workspace));
    expect(plan.view).not.toBe(digest(request()));
  });

  test("is another one when any part of the view is", () => {
    const changes: Partial<AgentControls>[] = [
      { groups: [7] },
      { gid: 7 },
      { env: new Map([["A", "b"]]) },
      { path: ["/ctx/tool", "/ctx/shared/a/tool"] },
      { mount: [mount(at("data"), "/data")] },
      { label: { text: "x", type: "other_t" } },
    ];
    const all = [
      ...changes.map((change) => request({}, change)),
      request({ network: true }),
      request({ visible: [] }),
      request({ home: `${scene.source}/home/0/agent/coder` }),
      request({ models: [{ viewPath: "/ctx/model/a/b", hostPath: "/x" }] }),
    ].map((wanted) => digest(wanted));
    expect(new Set([...all, digest(request())]).size).toBe(all.length + 1);
  });
});
