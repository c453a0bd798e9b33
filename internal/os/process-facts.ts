// Facts about processes from /proc. A pid alone names nothing for long; pid and start time do.

import { readdirSync } from "node:fs";
import { readProcFile } from "./proc-file.ts";

export interface ProcessStamp {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks since boot, as text because it may exceed 2^53. */
  readonly startTime: string;
}

export interface ProcessFacts extends ProcessStamp {
  readonly parent: number;
  readonly state: string;
}

/** Among the fields after the command name. */
const startTimeField = 19;

/** Undefined when there is no such process (any more). */
export function processFacts(pid: number): ProcessFacts | undefined {
  let text: string;
  try {
    text = readProcFile(`/proc/${pid}/stat`);
  } catch {
    return undefined;
  }
  // The command name may hold spaces and parentheses; what follows its last one is numbers.
  const rest = text.slice(text.lastIndexOf(")") + 2).split(" ", startTimeField + 1);
  const [state, parent] = rest;
  const startTime = rest[startTimeField];
  if (state === undefined || parent === undefined || startTime === undefined) return undefined;
  return { pid, startTime, parent: Number(parent), state };
}

export function sameProcess(stamp: ProcessStamp): boolean {
  const now = processFacts(stamp.pid);
  return now !== undefined && now.startTime === stamp.startTime && now.state !== "Z";
}

/** Every live descendant of `pid`, parents before children, from one reading of /proc. */
export function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync("/proc")) {
    if (!/^[0-9]+$/.test(entry)) continue;
    const facts = processFacts(Number(entry));
    if (facts === undefined) continue;
    const siblings = children.get(facts.parent);
    if (siblings) siblings.push(facts.pid);
    else children.set(facts.parent, [facts.pid]);
  }
  const found: number[] = [];
  const waiting = [...(children.get(pid) ?? [])];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    found.push(next);
    waiting.push(...(children.get(next) ?? []));
  }
  return found;
}
