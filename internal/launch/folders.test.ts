// Which host folders an agent may be given, as its workspace or by a mount line, and as what.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemAgentUid } from "../../testdata/sandbox/configurations.ts";
import {
  commandRequest,
  controlsOf,
  launcherOf,
  makeScene,
  type Scene,
  toolOf,
} from "../../testdata/sandbox/scene.ts";
import type { MountLine } from "../control/mod.ts";
import type { Launcher, LaunchRequest } from "./types.ts";

const missing = process.getuid?.() === 0 ? undefined : "needs root to become the agent";
if (missing !== undefined) console.log(`SKIP folders of launches: ${missing}`);

let scene: Scene;
let launcher: Launcher;

beforeAll(() => {
  if (missing !== undefined) return;
  scene = makeScene({ agentUid: systemAgentUid, serverUid: 0 });
  launcher = launcherOf(scene);
});
afterAll(async () => {
  if (missing !== undefined) return;
  await launcher.close();
  rmSync(scene.base, { recursive: true, force: true });
});

function run(args: { cmd: string }, change: Partial<LaunchRequest> = {}) {
  const io = { signal: new AbortController().signal, onOutput() {} };
  return launcher.run(commandRequest(scene, args, change), io);
}

function mount(source: string, target: string, more: Partial<MountLine> = {}): MountLine {
  const flags = { recursive: false, nosuid: true, nodev: true, noexec: false, line: 1 };
  return { source, target, access: "rw", ...flags, ...more };
}

describe.skipIf(missing !== undefined)("a workspace is refused", () => {
  const refused = async (workspace: string) => {
    const outcome = await run({ cmd: "true" }, { workspace });
    return { status: outcome.status, code: outcome.code, output: outcome.output };
  };
  const cases: readonly (readonly [string, () => string, string, string])[] = [
    ["the whole file system", () => "/", "EACCES", "whole file system"],
    ["/etc", () => "/etc", "EACCES", '"/etc"'],
    ["a folder of /proc", () => "/proc/self", "EACCES", '"/proc"'],
    ["/dev/shm", () => "/dev/shm", "EACCES", '"/dev"'],
    ["the source tree", () => scene.source, "EACCES", "is the source tree"],
    ["a folder inside the tree", () => `${scene.source}/home`, "EACCES", "lies inside"],
    ["a parent of the tree", () => scene.base, "EACCES", "contains the source tree"],
    ["the runtime folder", () => scene.runtime, "EACCES", "the runtime folder"],
    ["the secrets folder", () => join(scene.base, "secrets"), "EACCES", "the secrets folder"],
    ["the configuration", () => join(scene.base, "config"), "EACCES", "the configuration"],
    ["what is not there", () => join(scene.base, "none"), "ENOENT", "does not exist"],
    ["a relative path", () => "work", "EINVAL", "absolute"],
  ];
  for (const [name, path, code, words] of cases) {
    test(`when it is ${name}`, async () => {
      const outcome = await refused(path());
      expect(outcome).toMatchObject({ status: "error", code });
      expect(outcome.output).toContain(words);
    });
  }

  for (const [name, from, words] of [
    ["shows /proc by a mount in it", "/proc", "the host's own system"],
    ["is /etc by another mount", "/etc", 'the system folder "/etc"'],
  ] as const) {
    test(`when it ${name}`, async () => {
      const alias = join(scene.base, "alias");
      mkdirSync(join(alias, "in"), { recursive: true });
      const at = from === "/proc" ? join(alias, "in") : alias;
      Bun.spawnSync(["mount", "--bind", from, at]);
      try {
        const outcome = await refused(alias);
        expect(outcome).toMatchObject({ code: "EACCES", output: expect.stringContaining(words) });
      } finally {
        Bun.spawnSync(["umount", at]);
      }
    });
  }

  test("when a symlink leads to the tree", async () => {
    const link = join(scene.base, "work", "link");
    symlinkSync(scene.source, link);
    expect(await refused(link)).toMatchObject({ code: "EACCES" });
    rmSync(link);
  });

  test("when a bind mount makes a part of the tree, or a parent, look like another folder", async () => {
    for (const target of [`${scene.source}/home`, scene.base]) {
      const alias = "/tmp/ctx-alias";
      mkdirSync(alias, { recursive: true });
      Bun.spawnSync(["mount", "--bind", target, alias]);
      try {
        expect(await refused(alias)).toMatchObject({ code: "EACCES" });
      } finally {
        Bun.spawnSync(["umount", alias]);
        rmSync(alias, { recursive: true });
      }
    }
  });

  test("when something of ours is mounted below it", async () => {
    const below = join(scene.workspace, "below");
    mkdirSync(below);
    Bun.spawnSync(["mount", "--bind", join(scene.base, "secrets"), below]);
    try {
      expect(await refused(scene.workspace)).toMatchObject({ code: "EACCES" });
    } finally {
      Bun.spawnSync(["umount", below]);
      rmSync(below, { recursive: true });
    }
  });

  test("when the agent's uid may not search a folder above it", async () => {
    const closed = join(scene.base, "closed");
    mkdirSync(join(closed, "work"), { recursive: true });
    chmodSync(closed, 0o700);
    const outcome = await refused(join(closed, "work"));
    expect(outcome.code).toBe("EACCES");
    expect(outcome.output).toContain(`is not accessible for uid ${scene.agentUid}`);
  });

  test("when it is closed to the agent's uid, which is said with its name on the host", async () => {
    const closed = join(scene.base, "closed-itself");
    mkdirSync(closed, { mode: 0o700 });
    const outcome = await refused(closed);
    expect(outcome.code).toBe("EACCES");
    expect(outcome.output).toContain(`let uid ${scene.agentUid} read and search "${closed}"`);
  });
});

describe.skipIf(missing !== undefined)("a mount line", () => {
  const data = () => join(scene.base, "data");
  beforeAll(() => {
    mkdirSync(join(data(), "inner"), { recursive: true });
    writeFileSync(join(data(), "program"), "#!/bin/sh\necho ran\n");
    chmodSync(join(data(), "program"), 0o755);
    chmodSync(data(), 0o777);
  });
  const withMounts = (...lines: MountLine[]) => ({ controls: controlsOf(scene, { mount: lines }) });

  test("shows its source at its target, writable or not", async () => {
    const cmd = "ls /data /ro; touch /data/new && echo written; touch /ro/new";
    const lines = [mount(data(), "/data"), mount(data(), "/ro", { access: "ro" })];
    const { output } = await run({ cmd }, withMounts(...lines));
    expect(output).toContain("written\n");
    expect(output).toContain("touch: cannot touch '/ro/new': Read-only file system");
  });

  for (const access of ["ro", "rw"] as const) {
    test(`with noexec lets nothing below it be executed (${access})`, async () => {
      const cmd = "/data/program; echo $?; touch /data/x 2>/dev/null && echo written";
      const plain = await run({ cmd }, withMounts(mount(data(), "/data", { access })));
      expect(plain.output).toStartWith("ran\n0\n");
      const line = mount(data(), "/data", { access, noexec: true });
      const { output } = await run({ cmd }, withMounts(line));
      expect(output).toContain("Permission denied\n126\n");
      expect(output.includes("written")).toBe(access === "rw");
    });
  }

  test("makes no folder in an earlier mount for its target", async () => {
    const [outer, inner] = [join(scene.base, "outer"), join(scene.base, "inner")];
    for (const path of [outer, inner]) {
      mkdirSync(path);
      chmodSync(path, 0o777);
    }
    const lines = withMounts(mount(outer, "/data"), mount(inner, "/data/new"));
    const outcome = await run({ cmd: "true" }, lines);
    expect([outcome.code, readdirSync(outer)]).toEqual(["ENOENT", []]);
  });

  test("is no way around: a tool that became a symlink is not shown", async () => {
    const hostPath = join(scene.source, "tool/own");
    symlinkSync("/etc/hostname", hostPath);
    const tool = { ...toolOf(scene, "own"), builtin: false, hostPath };
    const outcome = await run({ cmd: "cat /ctx/tool/own" }, { visible: [tool] });
    expect([outcome.status, outcome.output]).toEqual(["error", expect.stringContaining("own")]);
    rmSync(hostPath);
  });

  test("may not be writable below /tmp, where sockets can be made", async () => {
    const source = join(scene.base, "work");
    for (const [access, code] of [
      ["rw", "EACCES"],
      ["ro", undefined],
    ] as const) {
      const outcome = await run({ cmd: "true" }, withMounts(mount(source, "/tmp/in", { access })));
      expect([access, outcome.code]).toEqual([access, code]);
    }
  });

  test("makes no folder in the workspace for its target", async () => {
    const outcome = await run({ cmd: "true" }, withMounts(mount(data(), "/workspace/data")));
    expect(outcome).toMatchObject({ status: "error", code: "ENOENT" });
    expect(readdirSync(scene.workspace)).not.toContain("data");
  });

  test("that holds another mount is only shared as a whole", async () => {
    Bun.spawnSync(["mount", "-t", "tmpfs", "none", join(data(), "inner")]);
    try {
      const flat = await run({ cmd: "true" }, withMounts(mount(data(), "/data")));
      expect(flat).toMatchObject({ status: "error", code: "EACCES" });
      const deep = mount(data(), "/data", { recursive: true });
      expect(await run({ cmd: "true" }, withMounts(deep))).toMatchObject({ status: "ok" });
    } finally {
      Bun.spawnSync(["umount", join(data(), "inner")]);
    }
  });

  for (const target of [
    "/usr/local",
    "/etc",
    "/ctx/tool",
    "/home",
    "/home/agent",
    "/proc",
    "/tmp",
  ]) {
    test(`may not hide ${target}`, async () => {
      const outcome = await run({ cmd: "true" }, withMounts(mount(data(), target)));
      expect(outcome).toMatchObject({ status: "error", code: "EACCES" });
    });
  }

  test("may not show a place of ours", async () => {
    const outcome = await run({ cmd: "true" }, withMounts(mount(scene.runtime, "/data")));
    expect(outcome).toMatchObject({ status: "error", code: "EACCES" });
  });
});
