// Runs a program to its end and tells what it said, how long it took, how much memory it held and
// which processes it left behind. These are killed afterwards, so that no test leaves them to others.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pythonArgv } from "./hostile.ts";

export interface Watched {
  /** Negative when a signal ended it. */
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
  /** The most that the program, or one process of its that it waited for, held at a time. */
  readonly peakMiB: number;
  /** It did not end in its time and was killed. */
  readonly late: boolean;
  /** Processes that lived on, each as `pid command`. */
  readonly left: readonly string[];
}

export interface WatchOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Text of at least 16 characters in the environment or arguments of all that belongs to the run. */
  readonly mark: string;
  readonly seconds: number;
  readonly stdin?: string;
}

export async function watch(argv: readonly string[], options: WatchOptions): Promise<Watched> {
  const folder = mkdtempSync(join(tmpdir(), "watched-"));
  try {
    const report = join(folder, "report");
    const reaper = [...pythonArgv, join(import.meta.dir, "reaper.py"), report];
    const child = Bun.spawn([...reaper, options.mark, String(options.seconds), ...argv], {
      cwd: options.cwd,
      env: { ...options.env },
      stdin: options.stdin === undefined ? "ignore" : new TextEncoder().encode(options.stdin),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    const { peakKib, ...said } = JSON.parse(readFileSync(report, "utf8"));
    return { ...said, stdout, stderr, peakMiB: peakKib / 1024 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
