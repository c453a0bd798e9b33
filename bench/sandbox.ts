// A tool call against the least that its sandbox can cost: bubblewrap itself, started as the same
// uid with the same namespaces and mounts, running `true`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SandboxSpec } from "../internal/sandbox/mod.ts";
import { dist, type World } from "../testdata/e2e/world.ts";
import { usrAlone, withoutLauncher } from "./bare.ts";
import { median, type Result, runProgram } from "./measure.ts";
import { callTime, endStandbys } from "./turn.ts";

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

/** Each tool with the program that its sandbox starts, as a bare command of the host. */
const calls = [
  ["fs.stat", { path: "/workspace" }, [join(dist, "ctx"), "--version"]],
  ["shell.exec", { cmd: "true" }, ["/bin/sh", "-c", "true"]],
] as const;

/** How long a model thinks before it calls. Any real one takes longer. */
const thinkMs = 150;

/** How long an agent rests between an answer and the next message. */
const restMs = 200;

/**
 * Of a session that has used tools; of a new one of an agent that is in use; of a new one of an agent
 * for which nothing stands, as after a minute in which nobody used it.
 */
type When = "used" | "new" | "idle";

interface Case {
  readonly tool: string;
  readonly args: unknown;
  readonly program: readonly string[];
  readonly thinkMs: number;
  readonly when: When;
}

const cases = (["used", "new", "idle"] as const).flatMap((when) =>
  [thinkMs, 0].flatMap((think) =>
    calls.map(([tool, args, program]): Case => ({ tool, args, program, thinkMs: think, when })),
  ),
);

export async function toolCallRatios(world: World): Promise<Result[]> {
  const argv = ["bwrap", ...bareArguments(world), "true"];
  const bare: number[] = [];
  const starts = calls.map((): number[] => []);
  const times = cases.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    const timed = async (list: number[] | undefined, work: () => Promise<unknown>) => {
      const begun = performance.now();
      await work();
      if (round >= 0) list?.push(performance.now() - begun);
    };
    await timed(bare, () => runProgram(argv, { uid: world.uid }));
    for (const [index, [, , program]] of calls.entries()) {
      await timed(starts[index], () => runProgram(program, { uid: world.uid }));
    }
    for (const [index, one] of cases.entries()) {
      if (one.when === "idle") await endStandbys(world);
      await Bun.sleep(restMs);
      const session = one.when === "used" ? "calls" : `calls-${round + 1}-${index}`;
      const time = await callTime(world, { ...one, session });
      if (round >= 0) times[index]?.push(time);
    }
  }
  const start = new Map(
    calls.map(([tool], index) => [tool as string, median(starts[index] ?? [])]),
  );
  return cases.map((one, index) =>
    result(one, median(times[index] ?? []), median(bare), start.get(one.tool) ?? 0),
  );
}

const places: Readonly<Record<When, string>> = {
  used: "call",
  new: "call, new session",
  idle: "call, idle agent",
};

function result({ tool, thinkMs, when }: Case, time: number, bare: number, start: number): Result {
  const model = thinkMs > 0 ? `the model thinks ${thinkMs} ms` : "the model answers at once";
  const floor = `; its floor, that and the program's start: ${(bare + start).toFixed(1)} ms`;
  return {
    name: `${tool} ${places[when]} / bare bwrap true`,
    value: time / bare,
    limit: when === "idle" ? undefined : limit,
    unit: "times",
    detail: `${time.toFixed(1)} ms against ${bare.toFixed(1)} ms, ${model}${when === "idle" ? floor : ""}`,
  };
}
