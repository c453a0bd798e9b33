// A tool call against the least that its sandbox can cost: bubblewrap itself, started as the same
// uid with the same namespaces and mounts, running `true`.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bwrapArguments, type SandboxSpec } from "../internal/sandbox/mod.ts";
import type { World } from "../testdata/e2e/world.ts";
import { median, type Result, runProgram } from "./measure.ts";
import { callTime } from "./turn.ts";

const rounds = 20;
const limit = 1.8;

/** Options that speak to a launcher, each with its descriptor; a bare run has nobody to speak to. */
const launcherOptions = ["--block-fd", "--seccomp"];

function bareArguments(world: World): string[] {
  const folder = (name: string) => {
    mkdirSync(join(world.base, name), { recursive: true });
    return join(world.base, name);
  };
  const spec: SandboxSpec = {
    system: {
      binds: [{ host: "/usr", view: "/usr", access: "ro" }],
      links: ["bin", "lib", "lib64", "sbin"].map((name) => ({
        target: `usr/${name}`,
        view: `/${name}`,
      })),
    },
    etc: folder("bare-etc"),
    view: folder("bare-view"),
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
  const list = bwrapArguments(spec, { block: 0, seccomp: 0 });
  return list.filter(
    (item, at) => !launcherOptions.includes(item) && !launcherOptions.includes(list[at - 1] ?? ""),
  );
}

const tools = [
  ["fs.stat", { path: "/workspace" }],
  ["shell.exec", { cmd: "true" }],
] as const;

export async function toolCallRatios(world: World): Promise<Result[]> {
  const argv = ["bwrap", ...bareArguments(world), "true"];
  const bare: number[] = [];
  const calls = tools.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    const begun = performance.now();
    await runProgram(argv, { uid: world.uid });
    const times = [performance.now() - begun];
    for (const [tool, args] of tools) times.push(await callTime(world, tool, args));
    if (round < 0) continue;
    for (const [index, time] of times.entries()) (calls[index - 1] ?? bare).push(time);
  }
  return tools.map(([tool], index): Result => {
    const time = median(calls[index] ?? []);
    return {
      name: `${tool} call / bare bwrap true`,
      value: time / median(bare),
      limit,
      unit: "times",
      detail: `${time.toFixed(1)} ms against ${median(bare).toFixed(1)} ms`,
    };
  });
}
