// Sandboxes that are built for the next step while one runs. The program says when process 1 of its
// sandbox was started, which tells a prepared sandbox from a fresh one.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemAgentUid } from "../../testdata/sandbox/configurations.ts";
import {
  controlsOf,
  installProgram,
  launcherOf,
  makeScene,
  type Scene,
  stepRequest,
} from "../../testdata/sandbox/scene.ts";
import { opLineBytesMax } from "../abi/mod.ts";
import { descendants, type ProcessStamp, processFacts, sameProcess } from "../os/mod.ts";
import type { StepRequest } from "./step-types.ts";
import type { Launcher } from "./types.ts";

const missing = process.getuid?.() === 0 ? undefined : "needs root to become the agent";
if (missing !== undefined) console.log(`SKIP prepared steps: ${missing}`);

const program = (word: string) =>
  `#!/bin/sh\necho $(cut -d' ' -f22 /proc/1/stat) ${word} $CTX_RUN_ID $CTX_STEP $(wc -c)\n`;

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

/** Clock ticks since boot, as /proc counts them. */
function ticks(): number {
  return Math.floor(Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]) * 100);
}

async function step(change: Partial<StepRequest> = {}) {
  const begun = ticks();
  let text = "";
  const outcome = await launcher.step(stepRequest(scene, change), {
    signal: new AbortController().signal,
    onStdout(bytes) {
      text += new TextDecoder().decode(bytes);
    },
  });
  const [started, ...words] = text.trim().split(" ");
  return { ...outcome, early: Number(started) < begun, said: words.join(" ") };
}

/** Process 1 and the gate. */
const standingProcesses = 2;

/** Waits until the next step's sandbox stands and the clock has moved past its start. */
async function standing(): Promise<ProcessStamp> {
  const until = ticks() + 1000;
  for (;;) {
    const [live] = launcher.live();
    const inside = live === undefined ? [] : descendants(live.root.pid);
    const first = inside[0] === undefined ? undefined : processFacts(inside[0]);
    if (first && inside.length >= standingProcesses && ticks() > Number(first.startTime)) {
      return { pid: first.pid, startTime: first.startTime };
    }
    if (ticks() > until) throw new Error("no sandbox was prepared");
    await Bun.sleep(1);
  }
}

/** A step behind which the next one's sandbox stands. */
async function prepared(change: Partial<StepRequest> = {}): Promise<ProcessStamp> {
  installProgram(scene, program("first"));
  await launcher.discard(stepRequest(scene));
  expect((await step(change)).early).toBe(false);
  return await standing();
}

const run = `ctx-${"0".repeat(32)}`;

describe.skipIf(missing !== undefined)("the sandbox of the next step", () => {
  test("serves it, which is told its own run, step and input", async () => {
    await prepared();
    const stdin = new Uint8Array(opLineBytesMax).fill(0x61);
    expect(await step({ step: 1, stdin })).toMatchObject({
      ...{ early: true, exit: 0, said: `first ${run} 1 ${opLineBytesMax}` },
    });
    await standing();
    expect(launcher.rest(stepRequest(scene))).toBe(false);
    const later = await step({ run: "ctx-later", step: 0 });
    expect(later).toMatchObject({ early: true, said: "first ctx-later 0 3" });
  });

  test("belongs to the run that uses it", async () => {
    await prepared();
    installProgram(scene, "#!/bin/sh\necho up; sleep 0.1\n");
    const runs = new Set<string>();
    await launcher.step(stepRequest(scene, { run: "ctx-later" }), {
      signal: new AbortController().signal,
      onStdout: () => void runs.add(launcher.live()[0]?.run ?? ""),
    });
    expect([...runs]).toEqual(["ctx-later"]);
  });

  test("runs the program as it is then: written over in place, or another file", async () => {
    await prepared();
    installProgram(scene, program("over"));
    expect(await step()).toMatchObject({ early: true, said: `over ${run} 0 3` });
    await standing();
    const path = join(scene.source, "agent/coder");
    writeFileSync(`${path}.new`, program("other"), { mode: 0o755 });
    renameSync(`${path}.new`, path);
    expect(await step()).toMatchObject({ early: false, said: `other ${run} 0 3` });
  });

  test("is not used once it may not run, or its interpreter is gone", async () => {
    await prepared();
    installProgram(scene, program("first"), 0o644);
    expect(await step()).toMatchObject({ code: "EACCES" });
    await prepared();
    installProgram(scene, "#!/opt/none\n");
    expect(await step()).toMatchObject({ code: "ENOENT", said: "" });
  });

  test("is not used once anything of the plan has changed", async () => {
    const git = join(scene.workspace, ".git");
    const env = new Map([["EXTRA", "1"]]);
    const control = join(scene.base, "control");
    mkdirSync(control);
    const changes: Partial<StepRequest>[] = [
      { controls: controlsOf(scene, { env }) },
      { window: { tokens: 1000, chars: 4000 } },
      { control },
      { visible: [] },
      { cwd: "/tmp" },
      { models: [{ viewPath: "/ctx/model/debug/echo", hostPath: "/nonexistent" }] },
    ];
    for (const change of changes) {
      await prepared();
      expect([change, (await step(change)).early]).toEqual([change, false]);
      await launcher.discard(stepRequest(scene, change));
    }
    await prepared();
    mkdirSync(git);
    expect((await step()).early).toBe(false);
    rmdirSync(git);
  });

  test("is built once more when it was killed, and is gone when it is discarded", async () => {
    const first = await prepared();
    process.kill(first.pid, "SIGKILL");
    while (sameProcess(first)) await Bun.sleep(1);
    expect(await step()).toMatchObject({ early: false, exit: 0 });
    await standing();
    const root = launcher.live()[0]?.root;
    await launcher.discard(stepRequest(scene));
    expect(root && sameProcess(root)).toBe(false);
    expect(launcher.live()).toEqual([]);
  });

  test("serves the first step of another session that has the same folder", async () => {
    const control = join(scene.base, "control");
    mkdirSync(control, { recursive: true });
    installProgram(scene, program("of $CTX_SESSION"));
    await step({ control, session: "one" });
    await standing();
    launcher.rest(stepRequest(scene, { control, session: "one" }));
    const two = { control, session: "two", run: "ctx-two" };
    expect(await step(two)).toMatchObject({ early: true, said: "of two ctx-two 0 3" });
    await launcher.discard(stepRequest(scene, two));
    expect(launcher.live()).toEqual([]);
  });

  test("can be asked for before the first one", async () => {
    installProgram(scene, program("first"));
    await launcher.discard(stepRequest(scene));
    const { program: of, window } = stepRequest(scene);
    launcher.prepare({ ...stepRequest(scene), visible: [] }, { step: { program: of, window } });
    await standing();
    expect((await step({ visible: [] })).early).toBe(true);
    installProgram(scene, "", 0o644);
    await launcher.discard(stepRequest(scene));
    launcher.prepare(stepRequest(scene), { step: { program: of, window } });
    expect(await step()).toMatchObject({ code: "EACCES" });
  });

  test("is begun while a program runs long, and after one that is over soon", async () => {
    await launcher.discard(stepRequest(scene));
    const roots = () => launcher.live().map(({ root }) => root.pid);
    const during: number[][] = [];
    installProgram(scene, "#!/bin/sh\necho up; sleep 0.5; echo down\n");
    const long = async () => {
      await launcher.step(stepRequest(scene), {
        signal: new AbortController().signal,
        onStdout: () => void during.push(roots()),
      });
    };
    // The first piece comes before the second sandbox is begun, if it is read as soon as it is there,
    // which a busy machine does not do each time; the last one comes after.
    for (let tries = 0; tries < 5 && during.at(-2)?.length !== 1; tries += 1) {
      await launcher.discard(stepRequest(scene));
      await long();
      expect(during.at(-1)?.length).toBe(2);
    }
    expect(during.at(-2)?.length).toBe(1);
    installProgram(scene, program("first"));
    await launcher.discard(stepRequest(scene));
    await step();
    await standing();
  });

  test("is not begun after a step whose session's are discarded", async () => {
    installProgram(scene, program("first"));
    await launcher.discard(stepRequest(scene));
    await step();
    await launcher.discard(stepRequest(scene));
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(launcher.live()).toEqual([]);
  });

  test("does not take a place that somebody waits for", async () => {
    const narrow = launcherOf(scene, 1);
    installProgram(scene, program("first"));
    let most = 0;
    const one = () =>
      narrow.step(stepRequest(scene), {
        signal: new AbortController().signal,
        onStdout() {
          most = Math.max(most, narrow.live().length);
        },
      });
    await Promise.all([one(), one(), one()]);
    expect(most).toBe(1);
    await narrow.close();
    expect(narrow.live()).toEqual([]);
  });
});
