// Signals to processes that a receipt names, and to no others: a pid that somebody else has by now
// is never touched, also when it changes hands between the look and the signal.

import { closeSync } from "node:fs";
import { openPid, type ProcessStamp, processFacts, sameProcess, signalPid } from "../os/mod.ts";

/** How often a dying process is looked at; a pid descriptor cannot be waited for in the event loop. */
const pollMsMin = 2;
const pollMsMax = 20;

/** False when the process is gone. */
export function signalStamp(stamp: ProcessStamp, signal: number): boolean {
  let pidfd: number;
  try {
    pidfd = openPid(stamp.pid);
  } catch {
    return false;
  }
  try {
    // Looked at once the descriptor pins it: what has the pid now keeps it until then.
    return sameProcess(stamp) && signalPid(pidfd, signal);
  } finally {
    closeSync(pidfd);
  }
}

export function living(stamps: readonly (ProcessStamp | undefined)[]): ProcessStamp[] {
  return stamps.flatMap((stamp) => (stamp !== undefined && sameProcess(stamp) ? [stamp] : []));
}

/** Whether all of them are gone within the time. */
export async function goneWithin(
  stamps: readonly (ProcessStamp | undefined)[],
  ms: number,
): Promise<boolean> {
  const until = performance.now() + ms;
  let pause = pollMsMin;
  while (living(stamps).length > 0) {
    if (performance.now() >= until) return false;
    await Bun.sleep(pause);
    pause = Math.min(pause * 2, pollMsMax);
  }
  return true;
}

export function isSame(a: ProcessStamp, b: ProcessStamp): boolean {
  return a.pid === b.pid && a.startTime === b.startTime;
}

export function isChild(child: ProcessStamp, parent: ProcessStamp): boolean {
  const facts = processFacts(child.pid);
  return facts?.startTime === child.startTime && facts.parent === parent.pid;
}

/** Undefined when there is no such process. */
export function stampOf(pid: number | undefined): ProcessStamp | undefined {
  const facts = pid === undefined ? undefined : processFacts(pid);
  return facts && { pid: facts.pid, startTime: facts.startTime };
}
