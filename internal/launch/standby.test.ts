// Sandboxes that are built before their call. A shell script stands for the runner: it says when
// process 1 of its sandbox was started, which tells a prepared sandbox from a fresh one.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemAgentUid } from "../../testdata/sandbox/configurations.ts";
import {
  commandRequest,
  launcherOf,
  makeScene,
  type Scene,
  toolOf,
} from "../../testdata/sandbox/scene.ts";
import { sameProcess } from "../os/mod.ts";
import type { Launcher, LaunchRequest } from "./types.ts";

const missing = process.getuid?.() === 0 ? undefined : "needs root to become the agent";
if (missing !== undefined) console.log(`SKIP standbys: ${missing}`);

const runner = `#!/bin/sh
[ "$2" != - ] || { read -r path || exit 0; set -- exec "$path"; }
read -r line
set -- "$2" $(cut -d' ' -f22 /proc/1/stat)
printf '{"type":"result","status":"ok","content":"%s %s %s"}\\n' "$1" "$2" "$(echo "$line" | tr -d '"')"
`;

let scene: Scene;
let launcher: Launcher;

beforeAll(() => {
  if (missing !== undefined) return;
  scene = makeScene({ agentUid: systemAgentUid, serverUid: 0 });
  const ctxBinary = join(scene.source, "bin/ctx");
  writeFileSync(ctxBinary, runner);
  chmodSync(ctxBinary, 0o755);
  launcher = launcherOf(scene, 8, ctxBinary);
});
afterAll(async () => {
  if (missing !== undefined) return;
  await launcher.close();
  rmSync(scene.base, { recursive: true, force: true });
});

function request(change: Partial<LaunchRequest> = {}): LaunchRequest {
  const tool = toolOf(scene, "fs.stat");
  const base = commandRequest(scene, { cmd: "true" }, change);
  return { ...base, tool, args: { path: "x" }, visible: [tool, ...base.visible], ...change };
}

/** Clock ticks since boot, as /proc counts them. */
function ticks(): number {
  return Math.floor(Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 100);
}

/** Prepares one for the request and waits until the clock has moved past its start. */
async function prepared(of: LaunchRequest): Promise<void> {
  launcher.prepare(of);
  const until = ticks() + 1000;
  while (launcher.live().length === 0 && ticks() < until) await Bun.sleep(1);
  const root = launcher.live().find(({ run }) => run === of.run)?.root;
  expect(root).toBeDefined();
  while (ticks() <= Number(root?.startTime) + 5) await Bun.sleep(1);
}

/** Runs the call; whether its sandbox was there before it, and what the runner was handed. */
async function call(of: LaunchRequest) {
  const begun = ticks();
  const io = { signal: new AbortController().signal, onOutput: () => undefined };
  const outcome = await launcher.run(of, io);
  const [path, started, ...input] = outcome.output.trim().split(" ");
  return { outcome, path, early: Number(started) < begun, input: input.join(" ") };
}

describe.skipIf(missing !== undefined)("a prepared sandbox", () => {
  test("serves the run's next built-in call, and the one after it gets a fresh one", async () => {
    await prepared(request());
    const first = await call(request());
    expect(first).toMatchObject({ early: true, path: "/ctx/tool/fs.stat", input: "{path:x}" });
    expect(launcher.live()).toEqual([]);
    expect((await call(request())).early).toBe(false);
  });

  test("is of one run alone", async () => {
    await prepared(request());
    expect((await call(request({ run: "another" }))).early).toBe(false);
    await launcher.discard(request().run);
    expect(launcher.live()).toEqual([]);
  });

  test("is not used once anything of the plan has changed", async () => {
    const git = join(scene.workspace, ".git");
    await prepared(request());
    mkdirSync(git);
    expect((await call(request())).early).toBe(false);
    rmdirSync(git);
    await prepared(request());
    const env = new Map([["EXTRA", "1"]]);
    const controls = { ...request().controls, env };
    expect((await call(request({ controls }))).early).toBe(false);
    await prepared(request());
    expect((await call(request({ visible: [toolOf(scene, "fs.stat")] }))).early).toBe(false);
  });

  test("serves a shell command too, exactly as a launch of its own would", async () => {
    const io = { signal: new AbortController().signal, onOutput: () => undefined };
    const print =
      "cut -d' ' -f22 /proc/1/stat; echo \"$0 $PATH $PWD\"; env | sort; cat; exit 3\n\n";
    for (const separate of [false, true]) {
      const of = commandRequest(scene, { cmd: `${print}`, separate });
      await prepared(of);
      const begun = ticks();
      const early = await launcher.run(of, io);
      const late = await launcher.run(of, io);
      const started = /^[0-9]+$/m;
      expect(Number(started.exec(early.output)?.[0])).toBeLessThan(begun);
      expect(early.output.replace(started, "")).toBe(late.output.replace(started, ""));
      expect([early.exit, late.exit]).toEqual([3, 3]);
    }
  });

  test("leaves a command alone that is no shell command or starts elsewhere", async () => {
    const io = { signal: new AbortController().signal, onOutput: () => undefined };
    await prepared(request());
    const array = commandRequest(scene, { cmd: ["echo", "hi"] });
    expect((await launcher.run(array, io)).output).toBe("hi\n[exit 0]\n");
    expect((await call(request())).early).toBe(true);
    await prepared(request());
    const elsewhere = commandRequest(scene, { cmd: "pwd", cwd: "/tmp" });
    expect((await launcher.run(elsewhere, io)).output).toBe("/tmp\n[exit 0]\n");
    expect((await call(request())).early).toBe(false);
  });

  test("that was killed is replaced, and one that is discarded is gone", async () => {
    await prepared(request());
    const killed = launcher.live()[0]?.root;
    process.kill(killed?.pid as number, "SIGKILL");
    while (killed && sameProcess(killed)) await Bun.sleep(1);
    const { outcome, early } = await call(request());
    expect([outcome.status, early]).toEqual(["ok", false]);
    await prepared(request());
    const root = launcher.live()[0]?.root;
    await launcher.discard(request().run);
    expect(root && sameProcess(root)).toBe(false);
  });
});
