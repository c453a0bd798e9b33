// What a launch says it would run, and that it runs nothing else once that was approved.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { systemAgentUid } from "../../testdata/sandbox/configurations.ts";
import {
  commandRequest,
  controlsOf,
  launcherOf,
  makeScene,
  type Scene,
} from "../../testdata/sandbox/scene.ts";
import { canonicalJson } from "./prepared.ts";
import type { Launcher, LaunchRequest } from "./types.ts";

const missing = process.getuid?.() === 0 ? undefined : "needs root to become the agent";
if (missing !== undefined) console.log(`SKIP approved launches: ${missing}`);

let scene: Scene;
let launcher: Launcher;
let tool: string;

beforeAll(() => {
  if (missing !== undefined) return;
  scene = makeScene({ agentUid: systemAgentUid, serverUid: 0 });
  tool = join(scene.source, "tool/shell.exec");
  writeFileSync(tool, "#!/bin/sh\n", { mode: 0o755 });
  launcher = launcherOf(scene);
});
afterAll(async () => {
  if (missing !== undefined) return;
  await launcher.close();
  rmSync(scene.base, { recursive: true, force: true });
});

const io = { signal: new AbortController().signal, onOutput: () => undefined };
const made = () => readdirSync(scene.workspace);
const touching = (change: Partial<LaunchRequest> = {}, cmd = "touch made") =>
  commandRequest(scene, { cmd }, change);

test("canonicalJson() orders keys and nothing else", () => {
  expect(canonicalJson({ b: [2, 1], a: { d: null, c: "x" } })).toBe(
    '{"a":{"c":"x","d":null},"b":[2,1]}',
  );
});

describe.skipIf(missing !== undefined)("an approved launch", () => {
  test("runs when nothing has changed", async () => {
    const request = touching();
    const approved = launcher.examine(request);
    expect(approved.cwd).toBe("/workspace");
    expect(await launcher.run({ ...touching(), approved }, io)).toMatchObject({ status: "ok" });
    expect(made()).toContain("made");
    rmSync(join(scene.workspace, "made"));
  });

  test("examining runs nothing", () => {
    expect(launcher.live()).toEqual([]);
    expect(made()).toEqual([]);
  });

  const other = (path: string) => `${path}.other`;
  const replace = (path: string) => {
    copyFileSync(path, other(path));
    chmodSync(other(path), 0o755);
    renameSync(other(path), path);
  };

  test.each<[string, () => unknown, string]>([
    ["its tool was written", () => writeFileSync(tool, "#!/bin/sh\n#\n"), "its executable is"],
    ["its tool was replaced by an equal file", () => replace(tool), "its executable is"],
    ["its tool was made older", () => utimesSync(tool, 1, 1), "its executable is"],
    ["its tool has other rights", () => chmodSync(tool, 0o700), "its executable is"],
    ["its arguments differ", () => ({ args: { cmd: "touch other" } }), "its arguments is"],
    ["its user differs", () => ({ controls: controlsOf(scene, { groups: [7] }) }), "the user that"],
    [
      "its environment differs",
      () => ({ controls: controlsOf(scene, { env: new Map([["A", "b"]]) }) }),
      "its environment is",
    ],
    ["it starts elsewhere", () => ({ cwd: "/home/agent" }), "its working folder is"],
    ["its time differs", () => ({ timeoutMs: 1 }), "its time limit is"],
    [
      "a folder was added",
      () => {
        const mount = { source: join(scene.base, "more"), target: "/more", mode: "ro" as const };
        mkdirSync(mount.source);
        return { controls: controlsOf(scene, { mount: [mount] as never }) };
      },
      "the folders that it sees are",
    ],
    [
      "its workspace was replaced",
      () => {
        renameSync(scene.workspace, `${scene.workspace}.old`);
        mkdirSync(scene.workspace, { mode: 0o777 });
        chmodSync(scene.workspace, 0o777);
        return {};
      },
      "the folders that it sees are",
    ],
  ])("is refused when %s", async (_, change, said) => {
    const approved = launcher.examine(touching());
    const outcome = await launcher.run(
      { ...touching((change() ?? {}) as Partial<LaunchRequest>), approved },
      io,
    );
    expect(outcome).toMatchObject({ status: "error", code: "ECANCELED" });
    expect(outcome.output).toContain(said);
    expect(outcome.output).toContain("not what was approved");
    expect(made()).toEqual([]);
  });

  test("is refused when its tool became a symlink", async () => {
    const approved = launcher.examine(touching());
    renameSync(tool, other(tool));
    symlinkSync(other(tool), tool);
    const outcome = await launcher.run({ ...touching(), approved }, io);
    expect(outcome.status).toBe("error");
    expect(made()).toEqual([]);
    expect(() => launcher.examine(touching())).toThrow();
    renameSync(other(tool), tool);
  });
});
