// A tool call against the least that its sandbox can cost: bubblewrap itself, started as the same
// uid with the same namespaces and mounts, running `true`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SandboxSpec } from "../internal/sandbox/mod.ts";
import type { World } from "../testdata/e2e/world.ts";
import { usrAlone, withoutLauncher } from "./bare.ts";
import { median, type Result, runProgram } from "./measure.ts";
import { callTime } from "./turn.ts";

const rounds = 20;
const limit = 1.8;

function bareArguments(world: World): string[] {
  const folder = (name: string) => {
    mkdirSync(join(world.base, name), { recursive: true });
    return join(world.base, name);
  };
  const spec: SandboxSpec = {
    system: usrAlone,
    etc: folder("bare-etc"),
    view: folder("bare-view"),
    programs: [],
    binds: [
      { host: folder("bare-home"), view: "/home/agent", access: "rw" },
      { host: folder("bare-home/session"), view: "/home/agent/session", access: "ro" },
      { host: world.workspace, view: "/workspace", access: "rw" },
    ],
    cwd: "/workspace",
    env: new Map(),
    network: "none",
    maskProc: false,
    tmpBytes: 512 * 1024 * 1024,
    shmBytes: 64 * 1024 * 1024,
  };
  return withoutLauncher(spec);
}

const calls = [
  ["fs.stat", { path: "/workspace" }],
  ["shell.exec", { cmd: "true" }],
] as const;

/** How long a model thinks before it calls. Any real one takes longer. */
const thinkMs = 150;

/** How long a session rests between an answer and the next message. */
const restMs = 200;

interface Case {
  readonly tool: string;
  readonly args: unknown;
  readonly thinkMs: number;
  /** The session is new, so that nothing was built for it before its message came. */
  readonly fresh: boolean;
}

const cases = [false, true].flatMap((fresh) =>
  [thinkMs, 0].flatMap((think) =>
    calls.map(([tool, args]): Case => ({ tool, args, thinkMs: think, fresh })),
  ),
);

export async function toolCallRatios(world: World): Promise<Result[]> {
  const argv = ["bwrap", ...bareArguments(world), "true"];
  const bare: number[] = [];
  const times = cases.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    const begun = performance.now();
    await runProgram(argv, { uid: world.uid });
    const bareTime = performance.now() - begun;
    for (const [index, one] of cases.entries()) {
      await Bun.sleep(restMs);
      const session = one.fresh ? `calls-${round + 1}-${index}` : "calls";
      const time = await callTime(world, { ...one, session });
      if (round >= 0) times[index]?.push(time);
    }
    if (round >= 0) bare.push(bareTime);
  }
  return cases.map((one, index) => result(one, median(times[index] ?? []), median(bare)));
}

function result({ tool, thinkMs, fresh }: Case, time: number, bare: number): Result {
  const model = thinkMs > 0 ? `the model thinks ${thinkMs} ms` : "the model answers at once";
  return {
    name: `${tool} call${fresh ? " of a new session" : ""} / bare bwrap true`,
    value: time / bare,
    limit,
    unit: "times",
    detail: `${time.toFixed(1)} ms against ${bare.toFixed(1)} ms, ${model}`,
  };
}
