// Steps of an executable agent, launched by a root server for an agent of another uid: what the
// program is given, what comes back, and how it ends when it does not end itself.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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
import { descendants } from "../os/mod.ts";
import { stepStderrBytesMax } from "./output.ts";
import type { StepIo, StepRequest } from "./step-types.ts";
import type { Launcher } from "./types.ts";

const missing = process.getuid?.() === 0 ? undefined : "needs root to become the agent";
if (missing !== undefined) console.log(`SKIP steps: ${missing}`);

/** What a pipe and the readers on the way hold at most while nobody takes anything. */
const heldBytesMax = 1024 * 1024;

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

interface More extends Partial<StepIo> {
  readonly change?: Partial<StepRequest>;
}

/** Runs the program as one step; `body` is a shell script without its first line. */
async function step(body: string, more: More = {}) {
  installProgram(scene, `#!/bin/sh\n${body}\n`);
  return await launched(more);
}

async function launched({ change, signal, onStdout }: More = {}) {
  const chunks: Uint8Array[] = [];
  const outcome = await launcher.step(stepRequest(scene, change), {
    signal: signal ?? new AbortController().signal,
    onStdout: onStdout ?? ((bytes) => void chunks.push(bytes)),
  });
  // What was prepared for the next step is tested elsewhere; here each step has a sandbox of its own.
  await launcher.discard(stepRequest(scene, change));
  expect(launcher.live()).toEqual([]);
  return { ...outcome, stdout: Buffer.concat(chunks).toString() };
}

describe.skipIf(missing !== undefined)("a step", () => {
  test("reads its line, prints lines, and ends with its own status", async () => {
    const outcome = await step("cat; echo seen >&2; exit 3");
    expect(outcome).toEqual({
      ...{ stdout: "{}\n", stderr: "seen\n", exit: 3, stopped: undefined, newGit: [] },
    });
  });

  test("has exactly the environment of a step, with the window where it is known", async () => {
    const controls = controlsOf(scene, { env: new Map([["EDITOR", "ed"]]) });
    const always = [
      ...["CTX_AGENT=coder", "CTX_AGENT_SUBJECT=coder_t", "CTX_PATH=/ctx/tool", "CTX_ROOT=/ctx"],
      ...[`CTX_HOME=/ctx/home/${scene.agentUid}`, "CTX_SESSION=default", "CTX_STEP=7"],
      ...[`CTX_RUN_ID=ctx-${"0".repeat(32)}`, "EDITOR=ed", "HOME=/home/agent", "LANG=C.UTF-8"],
      ...["LOGNAME=coder", "PWD=/workspace", "SHELL=/bin/sh", "TERM=dumb", "USER=coder"],
    ];
    const known = [
      ...["CTX_CONTEXT_WINDOW_CHARS=4000", "CTX_CONTEXT_WINDOW_TOKENS=1000"],
      "CTX_CONTROL_SOCKET=/run/cortexfs/control.sock",
    ];
    const change = { controls, step: 7 };
    const more = { ...change, control: scene.base, window: { tokens: 1000, chars: 4000 } };
    installProgram(scene, "#!/bin/sh\nexec /usr/bin/env\n");
    const names = (text: string) => text.trimEnd().split("\n").sort();
    expect(names((await launched({ change })).stdout)).toEqual(always.sort());
    expect(names((await launched({ change: more })).stdout)).toEqual([...always, ...known].sort());
  });

  test("may be given a whole mebibyte, read it or not, and no byte more", async () => {
    const stdin = new Uint8Array(opLineBytesMax).fill(0x61);
    expect((await step("wc -c", { change: { stdin } })).stdout).toBe(`${opLineBytesMax}\n`);
    expect(await step("exec 0<&-; exit 0", { change: { stdin } })).toMatchObject({ exit: 0 });
    expect(await step("exit 0", { change: { stdin } })).toMatchObject({ exit: 0, stderr: "" });
    const longer = { stdin: new Uint8Array(opLineBytesMax + 1) };
    expect(await step("echo ran", { change: longer })).toMatchObject({
      ...{ code: "EMSGSIZE", exit: undefined, stdout: "" },
    });
  });

  test("prints no faster than its reader takes it", async () => {
    const first = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    let bytes = 0;
    const onStdout = async (chunk: Uint8Array) => {
      bytes += chunk.length;
      first.resolve();
      await held.promise;
    };
    const counted = join(scene.workspace, "printed");
    const loop = "i=0; while [ $i -lt 64 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i";
    const outcome = step(`${loop} > /workspace/printed; done`, { onStdout });
    await first.promise;
    const printed = () => Number(readFileSync(counted, "utf8")) * 65536;
    // Long enough for an unheld writer to be done.
    const until = performance.now() + 500;
    while (performance.now() < until) await Bun.sleep(50);
    expect(printed()).toBeLessThan(heldBytesMax);
    held.resolve();
    expect(await outcome).toMatchObject({ exit: 0, stopped: undefined });
    expect(bytes).toBe(64 * 65536);
  });

  test("gives everything it printed before it ended to a slow reader", async () => {
    let text = "";
    const onStdout = async (chunk: Uint8Array) => {
      await Bun.sleep(20);
      text += new TextDecoder().decode(chunk);
    };
    await step("head -c 60000 /dev/zero | tr '\\0' x; echo end", { onStdout });
    expect(text).toBe(`${"x".repeat(60000)}end\n`);
  });

  test("keeps the end of its complaints, cut at a character", async () => {
    const { stderr } = await step("i=0; while [ $i -lt 9000 ]; do echo äö; i=$((i+1)); done >&2");
    expect(Buffer.byteLength(stderr)).toBeLessThanOrEqual(stepStderrBytesMax);
    expect(Buffer.byteLength(stderr)).toBeGreaterThan(stepStderrBytesMax - 4);
    expect(stderr).toEndWith("äö\näö\n");
    expect(stderr).not.toContain("\ufffd");
  });

  test("names a .git that appears, as a tool call does", async () => {
    const outcome = await step("mkdir /workspace/.git");
    rmSync(join(scene.workspace, ".git"), { recursive: true });
    expect(outcome.newGit).toEqual(["/workspace/.git"]);
  });
});

describe.skipIf(missing !== undefined)("a step that is stopped", () => {
  const stubborn =
    "trap '' TERM; echo up; (trap '' TERM; setsid sleep 71.25) & sleep 71.25; sleep 71.25";

  test("by time, though it and what it started ignore SIGTERM, is gone with all of it", async () => {
    const outcome = await step(stubborn, { change: { timeoutMs: 200 } });
    expect(outcome).toMatchObject({ stopped: "timeout", exit: undefined, stdout: "up\n" });
    expect(running("sleep\x0071.25")).toEqual([]);
  });

  test("by its reader, who is told nothing more", async () => {
    let calls = 0;
    const onStdout = () => {
      calls += 1;
      return "stop" as const;
    };
    const outcome = await step("while :; do echo line; done", { onStdout });
    expect(outcome).toMatchObject({ stopped: "reader", exit: undefined });
    expect(calls).toBe(1);
  });

  test("by its reader after it has ended", async () => {
    const onStdout = async () => {
      await Bun.sleep(50);
      return "stop" as const;
    };
    expect(await step("echo done", { onStdout })).toMatchObject({ stopped: "reader" });
  });

  test("by cancellation while it runs, while it is started, and before", async () => {
    for (const when of ["running", "starting", "before"]) {
      const control = new AbortController();
      const { signal } = control;
      const onStdout = () => control.abort();
      if (when === "before") control.abort();
      if (when === "starting") setTimeout(() => control.abort(), 5);
      const outcome = await step("echo up; sleep 72.25", { signal, onStdout });
      expect([when, outcome.stopped, outcome.exit]).toEqual([when, "cancelled", undefined]);
    }
    expect(running("sleep\x0072.25")).toEqual([]);
  });

  test("gets a moment to end itself", async () => {
    const change = { timeoutMs: 300 };
    const body = "trap 'echo bye >&2; exit 0' TERM; while :; do sleep 0.01; done";
    const outcome = await step(body, { change });
    expect(outcome.stopped).toBe("timeout");
    expect(outcome.stderr).toEndWith("bye\n");
  });

  test("is gone too when its reader throws, which is the caller's to see", async () => {
    const onStdout = () => {
      throw new Error("no room");
    };
    const failed = step("echo up; sleep 73.25", { onStdout });
    expect(await failed.catch((error: Error) => error.message)).toBe("no room");
    expect(running("sleep\x0073.25")).toEqual([]);
  });

  test("waits neither for what it left running nor for that one's output", async () => {
    const outcome = await step("(trap '' TERM; setsid sleep 74.25) & echo done");
    expect(outcome).toMatchObject({ exit: 0, stdout: "done\n" });
    expect(running("sleep\x0074.25")).toEqual([]);
  });
});

describe.skipIf(missing !== undefined)("a program that cannot be started", () => {
  const refusals: readonly (readonly [string, string, number, string, string])[] = [
    ["no interpreter", "#!/opt/none\n", 0o755, "ENOENT", 'there is no "/opt/none" in the sandbox'],
    ["no env word", "#!/usr/bin/env none\n", 0o755, "ENOENT", 'no "none" in /bin:/usr/bin'],
    ["env -S", "#!/usr/bin/env -S A=1 none -u\n", 0o755, "ENOENT", 'no "none" in /bin:/usr/bin'],
    ["no execute bit", "#!/bin/sh\n", 0o644, "EACCES", "is not executable"],
    ["not for its uid", "#!/bin/sh\n", 0o700, "EACCES", "cannot be executed by uid 61184"],
  ];
  for (const [name, text, mode, code, message] of refusals) {
    test(`says so: ${name}`, async () => {
      installProgram(scene, text, mode);
      const outcome = await launched();
      installProgram(scene, "", 0o755);
      expect(outcome).toMatchObject({ code, exit: undefined, stdout: "" });
      expect(outcome.message).toContain(`program "agent/coder"`);
      expect(outcome.message).toContain(message);
    });
  }

  test("is told of an interpreter that only the host has behind a link", async () => {
    const host = join(scene.base, "interpreter");
    writeFileSync(host, "#!/bin/sh\n", { mode: 0o755 });
    const link = join(scene.workspace, "interpreter");
    symlinkSync(host, link);
    installProgram(scene, "#!/workspace/interpreter\n");
    expect(await launched()).toMatchObject({ code: "ENOENT", stdout: "" });
    rmSync(link);
    symlinkSync("/usr/bin/sh", link);
    installProgram(scene, "#!/workspace/interpreter\necho ran\n");
    expect((await launched()).stdout).toBe("ran\n");
    rmSync(link);
  });

  test("is refused as a symlink, a folder, and when it is missing", async () => {
    const path = join(scene.source, "agent/coder");
    rmSync(path);
    expect(await launched()).toMatchObject({ code: "ENOENT" });
    symlinkSync("/bin/true", path);
    expect((await launched()).code).toBeDefined();
    rmSync(path);
    symlinkSync("coder.d", path);
    expect((await launched()).code).toBeDefined();
    rmSync(path);
  });

  test("is never another one than was looked at", async () => {
    const path = join(scene.source, "agent/coder");
    const seen: (string | undefined)[] = [];
    for (let round = 0; round < 5; round += 1) {
      installProgram(scene, "#!/bin/sh\necho first\n");
      writeFileSync(`${path}.new`, "#!/bin/sh\necho second\n", { mode: 0o755 });
      const outcome = launched();
      // The plan is made and bubblewrap started without a turn of the event loop; it looks later.
      for (let turn = 0; turn < 50; turn += 1) await undefined;
      renameSync(`${path}.new`, path);
      const { code, stdout } = await outcome;
      seen.push(code ?? stdout);
    }
    expect(seen.filter((one) => one !== "EACCES" && one !== "first\n")).toEqual([]);
    expect(seen).toContain("EACCES");
  });
});

/** Processes below this one whose command line has the text. */
function running(text: string): number[] {
  return descendants(process.pid).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}
