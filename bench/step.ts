// A step of an executable agent against the least that its sandbox can cost: bubblewrap itself, started
// as the same uid with the same namespaces, mounts and variables, running the same program on the same
// input. The program is a copy of cat: compiled, and over once it has passed on what it read.

import { chmodSync, copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Launcher, StepRequest } from "../internal/launch/mod.ts";
import type { Bind, SandboxSpec } from "../internal/sandbox/mod.ts";
import { launcherOf, makeScene, type Scene, stepRequest } from "../testdata/sandbox/scene.ts";
import { usrAlone, withoutLauncher } from "./bare.ts";
import { median, type Result, runProgram } from "./measure.ts";

const rounds = 20;
const limit = 1.3;

/** What lies between two steps of a run: the call that the first asked for. */
const callMs = 100;

/** Made up, as no account of the host has it; without root only the caller's own can be taken. */
const systemAgentUid = 61184;

const programs = ["ctx", "tsh", "ctxterm", "ctxmcp"];
const viewPath = "/ctx/agent/coder";
const invocation = `{"input":"${"x".repeat(4000)}"}\n`;

/** `dist` is the folder of the built programs, which a step sees in /ctx/bin. */
export async function stepRatios(dist: string): Promise<Result[]> {
  const uid = process.getuid?.() || systemAgentUid;
  const scene = makeScene({ agentUid: uid, serverUid: process.getuid?.() ?? uid });
  const launcher = launcherOf(scene, 8, join(dist, "ctx"));
  try {
    const hostPath = join(scene.source, "agent/coder");
    copyFileSync("/usr/bin/cat", hostPath);
    chmodSync(hostPath, 0o755);
    const control = folder(scene, "control");
    const stdin = new TextEncoder().encode(invocation);
    const request = stepRequest(scene, { control, stdin, program: { viewPath, hostPath } });
    const argv = ["bwrap", ...withoutLauncher(bareSpec(scene, dist, control)), viewPath];
    const identity = process.getuid?.() === 0 ? { uid } : {};
    const times: number[][] = [[], [], [], []];
    for (let round = -1; round < rounds; round += 1) {
      const session = `session-${round + 1}`;
      const actions = [
        () => runProgram(argv, { stdin, ...identity }),
        () => stepOutput(launcher, request),
        () => stepOutput(launcher, request),
        () => stepOutput(launcher, { ...request, session, run: `run-${session}` }),
      ];
      for (const [index, action] of actions.entries()) {
        // Nothing may be built beside a bare run or before the very first step.
        if (index < 2) await launcher.discard(request);
        else await Bun.sleep(callMs);
        const begun = performance.now();
        check(await action());
        if (round >= 0) times[index]?.push(performance.now() - begun);
      }
    }
    const [bare = 0, first = 0, next = 0, other = 0] = times.map(median);
    const ratio = ratioTo(bare);
    return [
      ratio("a step of a compiled agent / bare bwrap", next, limit, `${callMs} ms after one`),
      ratio("a first step, of an agent in use / bare bwrap", other, limit, "a new session's"),
      ratio("a first step, of an idle agent / bare bwrap", first, undefined, "nothing stands"),
    ];
  } finally {
    await launcher.close();
    rmSync(scene.base, { recursive: true, force: true });
  }
}

/** The bare run starts the same program, so it is also the floor of a step for which nothing stands. */
function ratioTo(bare: number) {
  return (name: string, time: number, most: number | undefined, when: string): Result => {
    const detail = `${time.toFixed(1)} ms against ${bare.toFixed(1)} ms, ${when}`;
    return { name, value: time / bare, limit: most, unit: "times", detail };
  };
}

async function stepOutput(launcher: Launcher, request: StepRequest): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const { exit, stderr, message } = await launcher.step(request, {
    signal: new AbortController().signal,
    onStdout(bytes) {
      text += decoder.decode(bytes, { stream: true });
    },
  });
  if (exit !== 0) throw new Error(`the step ended with ${exit}: ${message ?? stderr}`);
  return text;
}

/** A side that did not do its work would be fast. */
function check(output: string): void {
  if (output !== invocation) throw new Error(`the program printed ${output.length} characters`);
}

function folder({ base }: Scene, name: string): string {
  const path = join(base, name);
  mkdirSync(path, { recursive: true });
  return path;
}

function bareSpec(scene: Scene, dist: string, control: string): SandboxSpec {
  const view = folder(scene, "bare-view");
  const bind = (host: string, at: string, access: Bind["access"] = "ro") => {
    return { host, view: at, access };
  };
  for (const name of ["bin", "agent"]) folder(scene, `bare-view/${name}`);
  for (const name of [...programs.map((one) => `bin/${one}`), "agent/coder"]) {
    writeFileSync(join(view, name), "");
  }
  return {
    system: usrAlone,
    etc: folder(scene, "bare-etc"),
    view,
    programs: [],
    binds: [
      ...programs.map((name) => bind(join(dist, name), `/ctx/bin/${name}`)),
      bind(join(scene.source, "agent/coder"), viewPath),
      bind(control, "/run/cortexfs"),
      bind(join(scene.source, `home/${scene.agentUid}/agent/coder`), "/home/agent", "rw"),
      bind(join(scene.source, `home/${scene.agentUid}/agent/coder/session`), "/home/agent/session"),
      bind(scene.workspace, "/workspace", "rw"),
    ],
    cwd: "/workspace",
    env: new Map([["HOME", "/home/agent"]]),
    network: "none",
    maskProc: false,
    tmpBytes: 512 * 1024 * 1024,
    shmBytes: 64 * 1024 * 1024,
  };
}
