// How a program comes to its end: by itself, or with all of its sandbox because it took too long, is
// not wanted any more, or printed what nobody will read.

import type { RunningSandbox } from "../bwrap/mod.ts";

export type StopReason = "timeout" | "cancelled" | "reader";

export interface StopConditions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Resolves when whoever reads the output has seen enough. */
  readonly reader?: Promise<void>;
}

/** Waits for the program; when it is stopped, until every process of the sandbox is gone. */
export async function endOrStop(
  sandbox: RunningSandbox,
  { timeoutMs, signal, reader }: StopConditions,
): Promise<StopReason | undefined> {
  const stop = Promise.withResolvers<StopReason>();
  const abort = () => stop.resolve("cancelled");
  const timer = setTimeout(() => stop.resolve("timeout"), timeoutMs);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  void reader?.then(() => stop.resolve("reader"));
  try {
    const stopped = await Promise.race([sandbox.exited.then(() => undefined), stop.promise]);
    if (stopped !== undefined) await sandbox.kill();
    return stopped;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
