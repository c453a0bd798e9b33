// Sandboxes that are built before their call. A shell script stands for the runner: it says when
// process 1 of its sandbox was started, which tells a prepared sandbox from a fresh one, and which run
// it was told of.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { systemAgentUid } from "../../testdata/sandbox/configurations.ts";
import {
  commandRequest,
  launcherOf,
  makeScene,
  type Scene,
  toolOf,
} from "../../testdata/sandbox/scene.ts";
import { descendants, type ProcessStamp, processFacts, sameProcess } from "../os/mod.ts";
import type { Launcher, LaunchRequest } from "./types.ts";

const missing = process.getuid?.() === 0 ? undefined : "needs root to become the agent";
if (missing !== undefined) console.log(`SKIP standbys: ${missing}`);

const runner = `#!/bin/sh
[ "$2" != - ] || { read -r path CTX_RUN_ID CTX_SESSION || exit 0; set -- exec "$path"; }
read -r line
set -- "$2" $(cut -d' ' -f22 /proc/1/stat) "$CTX_RUN_ID" "$CTX_SESSION"
content="$1 $2 $3 $4 $(echo "$line" | tr -d '"')"
printf '{"type":"result","status":"ok","content":"%s"}\\n' "$content"
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

/** Process 1, the gate and the runner that waits behind it. */
const standingProcesses = 3;

/** Prepares one, waits until it stands and the clock has moved past the start of its process 1. */
async function prepared(of: LaunchRequest): Promise<void> {
  launcher.prepare(of);
  const until = ticks() + 1000;
  let first: ProcessStamp | undefined;
  while (first === undefined && ticks() < until) {
    await Bun.sleep(1);
    const root = launcher.live().find(({ run }) => run === of.run)?.root;
    const inside = root === undefined ? [] : descendants(root.pid);
    if (inside.length >= standingProcesses) first = processFacts(inside[0] as number);
  }
  expect(first).toBeDefined();
  while (ticks() <= Number(first?.startTime)) await Bun.sleep(1);
}

/** Runs the call; whether its sandbox was there before it, and what the runner was handed. */
async function call(of: LaunchRequest) {
  const begun = ticks();
  const io = { signal: new AbortController().signal, onOutput: () => undefined };
  const outcome = await launcher.run(of, io);
  const [path, started, run, session, ...input] = outcome.output.trim().split(" ");
  return { outcome, path, early: Number(started) < begun, run, session, input: input.join(" ") };
}

describe.skipIf(missing !== undefined)("a prepared sandbox", () => {
  test("serves the next built-in call, and the one after it gets a fresh one", async () => {
    await prepared(request());
    const first = await call(request());
    expect(first).toMatchObject({ early: true, path: "/ctx/tool/fs.stat", input: "{path:x}" });
    expect(first.run).toBe(request().run);
    expect(launcher.live()).toEqual([]);
    expect((await call(request())).early).toBe(false);
  });

  test("serves a later run of its session, which it is told of by its own name", async () => {
    await prepared(request({ run: "ctx-first" }));
    expect(launcher.rest(request())).toBe(true);
    const later = request({ run: "ctx-later" });
    expect(launcher.wake(later)).toBe(true);
    const live: (string | undefined)[] = [];
    const seen = await call(later);
    expect(seen).toMatchObject({ early: true, run: "ctx-later", input: "{path:x}" });
    await prepared(request({ run: "ctx-first" }));
    const cmd = "echo ran $CTX_RUN_ID; sleep 0.2";
    const outcome = await launcher.run(commandRequest(scene, { cmd }, { run: "ctx-later" }), {
      signal: new AbortController().signal,
      onOutput: () => live.push(launcher.live()[0]?.run),
    });
    expect(outcome.output).toBe("ran ctx-later\n[exit 0]\n");
    expect(live).toEqual(["ctx-later"]);
    expect(launcher.rest(request())).toBe(false);
  });

  test("is of one session of one agent alone", async () => {
    await prepared(request());
    const others: Partial<LaunchRequest>[] = [
      { session: "another" },
      { agent: "reviewer" },
      { scope: { kind: "shared", space: "team" } },
      { scope: { kind: "temp" } },
    ];
    for (const change of others) {
      expect(launcher.wake(request(change))).toBe(false);
      expect((await call(request(change))).early).toBe(false);
    }
    expect((await call(request())).early).toBe(true);
    await prepared(request());
    await launcher.discard(request());
    expect(launcher.live()).toEqual([]);
  });

  test("that shows a folder serves whichever session has the folder, told of its own names", async () => {
    const folders = ["one", "two"].map((name) => {
      const path = join(scene.base, `control-${name}`);
      mkdirSync(path, { recursive: true });
      return path;
    });
    const [control, elsewhere] = folders as [string, string];
    await prepared(request({ control, session: "first" }));
    expect(launcher.rest(request({ control, session: "first" }))).toBe(true);
    for (const change of [
      { control: elsewhere },
      { agent: "reviewer" },
      { scope: { kind: "shared", space: "team" } as const },
      { scope: { kind: "temp" } as const },
    ]) {
      const other = request({ control, session: "second", ...change });
      expect([change, launcher.wake(other)]).toEqual([change, false]);
      expect((await call(other)).early).toBe(false);
    }
    const second = request({ control, session: "second", run: "ctx-second" });
    expect(launcher.wake(second)).toBe(true);
    expect(await call(second)).toMatchObject({ early: true, run: "ctx-second", session: "second" });
    await prepared(request({ control, session: "first" }));
    const print = { cmd: 'echo "$CTX_SESSION $CTX_RUN_ID"' };
    const io = { signal: new AbortController().signal, onOutput: () => undefined };
    const change = { control, session: "third", run: "ctx-third", visible: second.visible };
    const { output } = await launcher.run(commandRequest(scene, print, change), io);
    expect(output).toBe("third ctx-third\n[exit 0]\n");
    expect(launcher.live()).toEqual([]);
  });

  test("is kept by a run that has used none only if it rested before", async () => {
    await prepared(request());
    await launcher.leave(request());
    expect(launcher.live()).toEqual([]);
    await prepared(request());
    launcher.rest(request());
    launcher.wake(request());
    await launcher.leave(request());
    expect((await call(request())).early).toBe(true);
  });

  test("makes room for another session's once it has rested, and not before", async () => {
    const busy = ["a", "b", "c"].map((session) => request({ session }));
    launcher.prepare(request(), { resting: true });
    for (const each of busy) launcher.prepare(each);
    const next = request({ session: "next" });
    launcher.prepare(next);
    expect(launcher.wake(next)).toBe(false);
    const until = performance.now() + 10_000;
    while (!launcher.wake(next) && performance.now() < until) {
      await Bun.sleep(50);
      launcher.prepare(next);
    }
    expect([request(), ...busy, next].map((each) => launcher.wake(each))).toEqual([
      ...[false, true, true, true, true],
    ]);
    for (const each of [...busy, next]) await launcher.discard(each);
    expect(launcher.live()).toEqual([]);
  });

  test("is ended when nothing came for it in its time", async () => {
    const brief = launcherOf(scene, 8, join(scene.source, "bin/ctx"), 300);
    try {
      brief.prepare(request(), { resting: true });
      const until = performance.now() + 10_000;
      const seen = () => brief.live().length;
      while (seen() === 0 && performance.now() < until) await Bun.sleep(5);
      expect(seen()).toBe(1);
      while (seen() > 0 && performance.now() < until) await Bun.sleep(5);
      expect([seen(), brief.wake(request())]).toEqual([0, false]);
    } finally {
      await brief.close();
    }
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
    await prepared(request());
    const program = join(scene.source, "bin/ctx");
    writeFileSync(`${program}.new`, runner);
    chmodSync(`${program}.new`, 0o755);
    renameSync(`${program}.new`, program);
    expect((await call(request())).early).toBe(false);
    expect(launcher.live()).toEqual([]);
  });

  test("is not used once the host has mounted something in a shared folder", async () => {
    const below = join(scene.workspace, "disk");
    mkdirSync(below);
    await prepared(request());
    const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "tmpfs", below]);
    if (mounted.exitCode !== 0) {
      console.log("SKIP a mount after the start: this host lets nobody mount");
      await launcher.discard(request());
      return;
    }
    try {
      expect((await call(request())).early).toBe(false);
      await prepared(request());
      expect((await call(request())).early).toBe(true);
    } finally {
      Bun.spawnSync(["umount", "--lazy", below]);
    }
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
    await launcher.discard(request());
    expect(root && sameProcess(root)).toBe(false);
  });
});
