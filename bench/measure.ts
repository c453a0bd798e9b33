// Timing of whole processes, and what is printed about it. Ratios are of the same run of the bench,
// with the two sides taken in turn, so that a slow or busy machine slows both.

export interface Result {
  readonly name: string;
  readonly value: number;
  /** Without one the figure is told beside its floor, which `detail` says. */
  readonly limit: number | undefined;
  readonly unit: "times" | "s" | "ms" | "MiB";
  readonly detail: string;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Median milliseconds of each action, all of them taken in turn `rounds` times after one warm-up. */
export async function medianTimes(
  actions: readonly (() => Promise<void>)[],
  rounds: number,
): Promise<number[]> {
  const times = actions.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, action] of actions.entries()) {
      const begun = performance.now();
      await action();
      if (round >= 0) times[index]?.push(performance.now() - begun);
    }
  }
  return times.map(median);
}

/** Runs a program to its end; a failure ends the bench, since its time would mean nothing. */
export async function runProgram(
  argv: readonly string[],
  options: {
    env?: Record<string, string>;
    cwd?: string;
    uid?: number;
    exits?: number[];
    stdin?: Uint8Array;
  } = {},
): Promise<string> {
  const child = Bun.spawn([...argv], {
    cwd: options.cwd ?? "/",
    env: options.env ?? { PATH: "/usr/bin:/bin" },
    stdin: options.stdin ?? "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (!(options.exits ?? [0]).includes(status)) {
    throw new Error(`${argv.join(" ")} ended with ${status}: ${err}${out}`);
  }
  return out;
}

export function print(result: Result): boolean {
  const { limit: most } = result;
  const within = most === undefined || result.value <= most;
  const shown = `${result.value.toFixed(2)} ${result.unit}`.padStart(12);
  const verdict = most === undefined ? "    " : within ? "ok  " : "OVER";
  const limit = (most === undefined ? "" : `at most ${most} ${result.unit}`).padEnd(18);
  process.stdout.write(`${verdict} ${result.name.padEnd(44)}${shown}  ${limit} ${result.detail}\n`);
  return within;
}
