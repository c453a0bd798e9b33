// What only the host can see of a sandbox, in each way of running an agent: the kernel's identity of
// its processes, what is left of them, and what is left in the caller's folder.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  type Configuration,
  configurations,
  runDriver,
  startDriver,
  whyNot,
} from "../../testdata/sandbox/configurations.ts";
import type { Scene } from "../../testdata/sandbox/scene.ts";
import { descendants } from "../os/mod.ts";

const missing = whyNot();
if (missing !== undefined) console.log(`SKIP sandboxes seen from outside: ${missing}`);

/** Launches killed at a random moment, in all configurations together. */
const killedLaunches = process.env["CTX_LONG"] === "1" ? 60 : 12;
/** Two cores may be busy with other tests; the waits themselves end with what they wait for. */
const slowMs = 180_000;
/** Past it a process that should have ended, or begun, counts as one that never will. */
const waitMsMax = 20_000;

for (const configuration of configurations) {
  describe.skipIf(missing !== undefined)(`from outside (${configuration.name})`, () => {
    let scene: Scene;
    beforeAll(() => {
      scene = configuration.scene();
    });
    afterAll(() => {
      rmSync(scene.base, { recursive: true, force: true });
    });

    test("the kernel knows the command by the agent's uid and groups, and no more", async () => {
      const driver = startDriver(configuration, scene, { cmd: "echo up; exec sleep 61.25" });
      await lineOf(driver.stdout, '"up');
      const pid = await until(() =>
        descendants(driver.pid).find((each) => commandOf(each).startsWith("sleep 61.25")),
      );
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      driver.kill("SIGKILL");
      await driver.exited;
      const uid = configuration.kernelUid;
      expect(/^Uid:\t(.*)$/m.exec(status)?.[1]).toBe([uid, uid, uid, uid].join("\t"));
      expect(/^Gid:\t(.*)$/m.exec(status)?.[1]).toBe([uid, uid, uid, uid].join("\t"));
      expect(/^Groups:\t(.*?) *$/m.exec(status)?.[1]).toBe(configuration.groups.join(" "));
      await vanished("sleep 61.25");
    });

    test("what a command leaves running is gone when the call is over", async () => {
      const outcome = await runDriver(configuration, scene, {
        cmd: "(trap '' TERM; setsid sleep 62.25) >/dev/null 2>&1 & echo done",
      });
      expect(outcome).toMatchObject({ status: "ok", output: "done\n[exit 0]\n", exit: 0 });
      expect(processesWith("sleep 62.25")).toEqual([]);
    });

    test("a command that runs too long is ended with all it started", async () => {
      const outcome = await runDriver(configuration, scene, {
        cmd: "sleep 63.25 & (trap '' TERM; sleep 63.25; sleep 63.25) & echo on; wait",
        timeout_ms: 300,
      });
      expect(outcome).toMatchObject({ status: "error", code: "ETIMEDOUT" });
      expect(outcome.output).toBe("on\n[stopped: it ran longer than 300 ms]\n");
      expect(processesWith("sleep 63.25")).toEqual([]);
    });

    test("a server killed in the middle of a command takes everything with it", async () => {
      const driver = startDriver(configuration, scene, {
        cmd: "(trap '' TERM; setsid sleep 64.25) & echo up; sleep 64.25",
      });
      await lineOf(driver.stdout, '"up');
      driver.kill("SIGKILL");
      await driver.exited;
      await vanished("sleep 64.25");
      expect(readdirSync(scene.workspace)).toEqual([]);
    });

    test(
      "a server killed at any step of a launch leaves nothing",
      async () => {
        const rounds = killedLaunches / configurations.length;
        const mark = `mark-${process.pid}-${configuration.kernelUid}`;
        for (let round = 0; round < rounds; round += 1) {
          await killedLaunch(configuration, scene, mark, (round / rounds) * 100);
        }
        await vanished(mark);
        expect(readdirSync(scene.workspace)).toEqual([]);
      },
      slowMs,
    );

    test("a .git that appears is named, in the workspace and right below it", async () => {
      mkdirSync(join(scene.workspace, "part"));
      Bun.spawnSync(["chown", `${scene.agentUid}`, join(scene.workspace, "part")]);
      const outcome = await runDriver(configuration, scene, { cmd: "mkdir .git part/.git" });
      rmSync(join(scene.workspace, ".git"), { recursive: true });
      rmSync(join(scene.workspace, "part"), { recursive: true });
      expect(outcome.newGit).toEqual(["/workspace/.git", "/workspace/part/.git"]);
      expect(outcome.output).toContain('a new "/workspace/.git" appeared');
    });

    test("a noexec mount line lets nothing below it be executed", async () => {
      const folder = join(scene.base, "programs");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "program"), "#!/bin/sh\necho ran\n", { mode: 0o755 });
      Bun.spawnSync(["chown", "-R", `${scene.agentUid}`, folder]);
      const flags = { recursive: false, nosuid: true, nodev: true, noexec: true, line: 1 };
      const mount = [{ source: folder, target: "/programs", access: "rw", ...flags }];
      const cmd = "/programs/program; echo $?; touch /programs/x && echo written";
      const outcome = await runDriver(configuration, scene, { cmd }, { controls: { mount } });
      expect(outcome.output).toEndWith("Permission denied\n126\nwritten\n[exit 0]\n");
    });

    test("a link in place of the session folder stops the launch", async () => {
      const session = join(scene.source, `home/${scene.agentUid}/agent/coder/session`);
      Bun.spawnSync(["mv", session, `${session}.real`]);
      symlinkSync("/tmp", session);
      const outcome = await runDriver(configuration, scene, { cmd: "true" });
      rmSync(session);
      Bun.spawnSync(["mv", `${session}.real`, session]);
      expect(outcome).toMatchObject({ status: "error", code: "EACCES" });
      expect(outcome.output).toContain("coder/session");
    });
  });
}

/** Kills the server `ms` after a launch began; its command would leave a file. */
async function killedLaunch(config: Configuration, scene: Scene, mark: string, ms: number) {
  // The command is on the command line of every process of the launch, and so is the mark.
  const driver = startDriver(config, scene, { cmd: `sleep 30; touch ran; : ${mark}` });
  await lineOf(driver.stdout, "ready");
  await Bun.sleep(ms);
  driver.kill("SIGKILL");
  await driver.exited;
}

async function lineOf(stream: ReadableStream<Uint8Array>, wanted: string): Promise<void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(wanted)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`"${wanted}" never came, but: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
}

/** Resolves when no process has `text` in its command line or environment; fails after a while. */
async function vanished(text: string): Promise<void> {
  await until(() => processesWith(text).length === 0);
  expect(processesWith(text)).toEqual([]);
}

/** What `look` finds once it finds something, or undefined after `waitMsMax`. */
async function until<T>(look: () => T | undefined | false): Promise<T | undefined> {
  const end = performance.now() + waitMsMax;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) return undefined;
    await Bun.sleep(10);
  }
}

function processesWith(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && name !== `${process.pid}`)
    .map((name) => commandOf(Number(name)))
    .filter((command) => command.includes(text));
}

function commandOf(pid: number): string {
  const file = `/proc/${pid}/cmdline`;
  try {
    return existsSync(file) ? readFileSync(file, "utf8").replaceAll("\0", " ") : "";
  } catch {
    return "";
  }
}
