// Ending a sandbox: politely first, then for sure. Process 1 of the sandbox is the handle: when it is
// dead the kernel has killed and reaped everything in its pid namespace.

import { killGraceMs } from "../abi/mod.ts";
import { descendants, type ProcessStamp, sameProcess } from "../os/mod.ts";

const SIGTERM = 15;
const SIGKILL = 9;
/**
 * How often a dying process is looked at; a pid descriptor cannot be waited for in the event loop.
 * Most are gone within the first millisecond, and every tool call waits here once.
 */
const pollMsMin = 1;
const pollMsMax = 8;
/** A killed namespace is gone in milliseconds; past this it is stuck in the kernel. */
const killedMsMax = 10_000;

/** Resolves when every process of the sandbox is gone. Throws when the kernel does not end them. */
export async function endTree(
  init: ProcessStamp,
  outer: { kill(signal: number): void; readonly exited: Promise<number> },
  graceMs = killGraceMs,
): Promise<void> {
  if (sameProcess(init)) {
    // bubblewrap's own two processes do not hear it: the outer one's death would kill the rest.
    for (const pid of graceMs > 0 ? descendants(init.pid) : []) signal(pid, SIGTERM);
    await gone(init, graceMs);
  }
  if (sameProcess(init)) signal(init.pid, SIGKILL);
  const ended = await gone(init, killedMsMax);
  outer.kill(SIGKILL);
  await outer.exited;
  if (!ended) throw new Error(`process ${init.pid} did not end ${killedMsMax} ms after SIGKILL`);
}

async function gone(stamp: ProcessStamp, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  let pause = pollMsMin;
  while (sameProcess(stamp)) {
    if (performance.now() >= until) return false;
    await Bun.sleep(pause);
    pause = Math.min(pause * 2, pollMsMax);
  }
  return true;
}

function signal(pid: number, number: number): void {
  try {
    process.kill(pid, number);
  } catch {
    // It ended by itself.
  }
}
