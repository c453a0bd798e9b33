// Launches by a root server for an agent of another uid: what a call gives back. Which host folders
// it may be given is in `folders.test.ts`.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
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
import { toolOutputBytesMax } from "../abi/mod.ts";
import type { Launcher, LaunchRequest } from "./types.ts";

const missing = process.getuid?.() === 0 ? undefined : "needs root to become the agent";
if (missing !== undefined) console.log(`SKIP launches: ${missing}`);

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

type Arguments = Parameters<typeof commandRequest>[1];

async function run(args: Arguments, change: Partial<LaunchRequest> = {}, signal?: AbortSignal) {
  const live: string[] = [];
  const outcome = await launcher.run(commandRequest(scene, args, change), {
    signal: signal ?? new AbortController().signal,
    onOutput: (text) => live.push(text),
  });
  return { ...outcome, live: live.join("") };
}

describe.skipIf(missing !== undefined)("a command", () => {
  test("gives its output, live too, and its exit status as data", async () => {
    const outcome = await run({ cmd: "echo out; echo err >&2; exit 3" });
    expect(outcome).toEqual({
      ...{ status: "ok", output: "out\nerr\n[exit 3]\n", live: "out\nerr\n" },
      ...{ dropped: 0, exit: 3, newGit: [] },
    });
  });

  test("given as an array is run without a shell", async () => {
    const outcome = await run({ cmd: ["printf", "%s|", "a b", "$HOME"] });
    expect(outcome.output).toBe("a b|$HOME|\n[exit 0]\n");
  });

  test("gives its streams apart when asked", async () => {
    const outcome = await run({ cmd: "echo out; echo err >&2", separate: true });
    expect(outcome.output).toBe("[stdout]\nout\n[stderr]\nerr\n[exit 0]\n");
  });

  test("that is not there ends with 127", async () => {
    expect(await run({ cmd: ["no-such-program"] })).toMatchObject({ status: "ok", exit: 127 });
  });

  test("has nothing to read", async () => {
    expect((await run({ cmd: "wc -c" })).output).toBe("0\n[exit 0]\n");
  });

  test("has exactly the environment of a tool", async () => {
    const controls = controlsOf(scene, { env: new Map([["EDITOR", "ed"]]) });
    const { output } = await run({ cmd: ["/usr/bin/env"] }, { controls });
    const names = output.split("\n").flatMap((line) => (line.includes("=") ? [line] : []));
    expect(names.sort()).toEqual(
      [
        ...["CTX_AGENT=coder", "CTX_AGENT_SUBJECT=coder_t", "CTX_PATH=/ctx/tool"],
        ...["CTX_ROOT=/ctx", `CTX_HOME=/ctx/home/${scene.agentUid}`, "CTX_SESSION=default"],
        ...["CTX_TOOL_MODE=native", `CTX_RUN_ID=ctx-${"0".repeat(32)}`, "EDITOR=ed"],
        ...["HOME=/home/agent", "USER=coder", "LOGNAME=coder", "SHELL=/bin/sh", "TERM=dumb"],
        ...["LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin", "PWD=/workspace"],
      ].sort(),
    );
  });

  test("keeps the first and last part of a flood and counts what is dropped", async () => {
    const bytes = toolOutputBytesMax + 1000;
    const { output, dropped } = await run({ cmd: `echo first; yes | head -c ${bytes}; echo last` });
    expect(dropped).toBe(1000 + "first\nlast\n".length);
    expect(output.slice(0, 8)).toBe("first\ny\n");
    expect(output).toEndWith("last\n[exit 0]\n");
    expect(output).toContain(`[${dropped} bytes dropped here]`);
  });

  test("streams whole characters, and replaces what is none", async () => {
    const cmd = "printf '\\303'; sleep 0.1; printf '\\244\\377.'";
    const outcome = await run({ cmd });
    expect(outcome.live).toBe("ä\ufffd.");
    expect(outcome.output).toBe("ä\ufffd.\n[exit 0]\n");
  });

  test("starts in the folder asked for, relative to the agent's own", async () => {
    mkdirSync(join(scene.workspace, "sub"), { recursive: true });
    expect((await run({ cmd: "pwd", cwd: "sub" })).output).toBe("/workspace/sub\n[exit 0]\n");
    expect((await run({ cmd: "pwd" }, { cwd: "/tmp" })).output).toBe("/tmp\n[exit 0]\n");
  });

  test("without a workspace starts in the agent's home", async () => {
    const outcome = await run({ cmd: "pwd; ls /" }, { workspace: undefined });
    expect(outcome.output).toStartWith("/home/agent\n");
    expect(outcome.output).not.toContain("workspace");
  });

  const folders: readonly (readonly [string, string, string])[] = [
    ["/workspace/none", "ENOENT", 'folder "/workspace/none" does not exist'],
    ["/root", "EACCES", "lies outside"],
    ["/workspace/../var", "EACCES", "lies outside"],
    ["../../..", "EACCES", "lies outside"],
  ];
  for (const [cwd, code, words] of folders) {
    test(`in folder ${cwd} is ${code}`, async () => {
      const outcome = await run({ cmd: "pwd", cwd });
      expect(outcome).toMatchObject({ status: "error", code, exit: undefined });
      expect(outcome.output).toContain(words);
    });
  }

  test("longer than the kernel takes is EMSGSIZE", async () => {
    const outcome = await run({ cmd: `: ${"x".repeat(200_000)}` });
    expect(outcome).toMatchObject({ status: "error", code: "EMSGSIZE" });
  });

  test("is stopped when it is cancelled, and keeps what it had printed", async () => {
    const control = new AbortController();
    const call = launcher.run(commandRequest(scene, { cmd: "echo begun; sleep 65.5" }), {
      signal: control.signal,
      onOutput: () => control.abort(),
    });
    const outcome = await call;
    expect(outcome).toMatchObject({ status: "error", code: "ECANCELED", exit: undefined });
    expect(outcome.output).toBe("begun\n[stopped: cancelled]\n");
    expect(launcher.live()).toEqual([]);
  });

  test("gets SIGTERM first, and time to clean up", async () => {
    const cmd = "trap 'echo cleaned; exit 0' TERM; echo begun; while :; do sleep 0.05; done";
    const outcome = await run({ cmd, timeout_ms: 300 });
    // The shell may tell of its child's end in between.
    expect(outcome.output).toMatch(
      /^begun\n(.*\n)?cleaned\n\[stopped: it ran longer than 300 ms\]\n$/,
    );
  });
});

describe.skipIf(missing !== undefined)("an agent", () => {
  test("of uid 0 is refused unless the host allows it", async () => {
    const outcome = await run({ cmd: "true" }, { controls: controlsOf(scene, { uid: 0 }) });
    expect(outcome).toMatchObject({ status: "error", code: "EACCES" });
    expect(outcome.output).toContain("root_agents=allow");
  });

  test("sees its own readable controls and nobody's policy", async () => {
    const { output } = await run({ cmd: "cat /ctx/agent/coder.d/system.md; find /ctx/agent" });
    expect(output).toContain("You write code.");
    expect(output).not.toContain("policy");
  });

  test("sees the tools it was given and no other", async () => {
    const visible = ["fs.read", "shell.exec"].map((name) => toolOf(scene, name));
    const { output } = await run({ cmd: "cd /ctx/tool; ls; head -1 fs.read" }, { visible });
    expect(output).toBe(
      "fs.read\nfs.read.d\nshell.exec\nshell.exec.d\n#!/ctx/bin/ctx exec\n[exit 0]\n",
    );
  });
});

describe.skipIf(missing !== undefined)("createLauncher()", () => {
  test("runs as many at once as it may, in the order in which they came", async () => {
    const narrow = launcherOf(scene, 1);
    const ended: number[] = [];
    const calls = [1, 2, 3].map(async (number) => {
      const request = commandRequest(scene, { cmd: `echo ${number}` });
      await narrow.run(request, { signal: new AbortController().signal, onOutput() {} });
      ended.push(number);
    });
    await Promise.all(calls);
    expect(ended).toEqual([1, 2, 3]);
    await narrow.close();
  });

  test("a call that waits can be cancelled", async () => {
    const narrow = launcherOf(scene, 1);
    const first = new AbortController();
    const io = (signal: AbortSignal) => ({ signal, onOutput() {} });
    const running = narrow.run(commandRequest(scene, { cmd: "sleep 66.5" }), io(first.signal));
    const second = narrow.run(commandRequest(scene, { cmd: "true" }), io(AbortSignal.timeout(50)));
    expect(await second).toMatchObject({ status: "error", code: "ECANCELED" });
    first.abort();
    expect(await running).toMatchObject({ code: "ECANCELED" });
    await narrow.close();
  });

  test("close() ends what runs and refuses what comes", async () => {
    const closing = launcherOf(scene, 2);
    const io = { signal: new AbortController().signal, onOutput() {} };
    const running = closing.run(commandRequest(scene, { cmd: "sleep 67.5" }), io);
    await closing.close();
    expect(await running).toMatchObject({ status: "error", code: "ECANCELED" });
    expect(await closing.run(commandRequest(scene, { cmd: "true" }), io)).toMatchObject({
      code: "ECANCELED",
    });
  });
});
