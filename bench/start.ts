// How long a command takes to start, against an empty program that went through the same build.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compile } from "../packaging/build/compile.ts";
import { dist, type World } from "../testdata/e2e/world.ts";
import { medianTimes, type Result, runProgram } from "./measure.ts";

const rounds = 30;
const limit = 1.5;

export function compileEmpty(folder: string): Promise<string> {
  return compileProgram(folder, "empty", "export {};\n");
}

/** A program of this text on the hardened base, with the options of every other program. */
export async function compileProgram(
  folder: string,
  name: string,
  source: string,
): Promise<string> {
  const top = join(dist, "..");
  const cache = join(top, ".cache");
  const base = readdirSync(cache).find((name) => name.startsWith("base-"));
  if (base === undefined) throw new Error("there is no hardened base; run make build");
  const entry = join(folder, `${name}.ts`);
  writeFileSync(entry, source);
  const scratch = join(folder, `scratch-${name}`);
  mkdirSync(scratch);
  const target = join(folder, name);
  await compile({ top, base: join(cache, base), commit: "bench", entry, scratch, target });
  return target;
}

export async function startRatios(world: World): Promise<Result[]> {
  const empty = await compileEmpty(world.base);
  const ctx = join(dist, "ctx");
  const env = world.env;
  const tsh = join(dist, "tsh");
  const [bare = 0, version = 0, status = 0, shell = 0] = await medianTimes(
    [
      async () => void (await runProgram([empty], { env })),
      async () => void (await runProgram([ctx, "--version"], { env })),
      async () => void (await runProgram([ctx, "status"], { env })),
      async () => void (await runProgram([tsh, "--version"], { env })),
    ],
    rounds,
  );
  const detail = (time: number) => `${time.toFixed(1)} ms against ${bare.toFixed(1)} ms`;
  return [
    {
      name: "ctx --version / empty program",
      value: version / bare,
      limit,
      unit: "times",
      detail: detail(version),
    },
    {
      name: "ctx status / empty program",
      value: status / bare,
      limit,
      unit: "times",
      detail: detail(status),
    },
    {
      name: "tsh --version / empty program",
      value: shell / bare,
      limit: limit,
      unit: "times",
      detail: detail(shell),
    },
  ];
}
