// Finds process 1 of a sandbox from outside. bubblewrap would name it with --info-fd, but it writes
// that between tying its life to ours and waking its child, and a kill there leaves a child that
// waits for ever (see janitor.ts). Without it the two are one step apart.

import { readdirSync, readFileSync } from "node:fs";
import { fail } from "../abi/mod.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";

/** bubblewrap forks once at its start, so its child's number follows closely unless pids wrap. */
const nearbyPids = 64;

/** The only child of bubblewrap's outer process. Throws EIO when it has none. */
export function firstProcess(outer: number): ProcessStamp {
  const found = listed(outer) ?? nearby(outer) ?? scanned(outer);
  if (found === undefined) return fail("EIO", "the sandbox ended before it was released");
  return { pid: found.pid, startTime: found.startTime };
}

function childOf(outer: number, pid: number) {
  const facts = processFacts(pid);
  return facts?.parent === outer ? facts : undefined;
}

/** The kernel's own list, where it was built with one (CONFIG_PROC_CHILDREN). */
function listed(outer: number) {
  try {
    const text = readFileSync(`/proc/${outer}/task/${outer}/children`, "utf8");
    return childOf(outer, Number(text.trim().split(" ")[0]));
  } catch {
    return undefined;
  }
}

function nearby(outer: number) {
  for (let pid = outer + 1; pid <= outer + nearbyPids; pid += 1) {
    const facts = childOf(outer, pid);
    if (facts !== undefined) return facts;
  }
  return undefined;
}

function scanned(outer: number) {
  for (const name of readdirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    const facts = childOf(outer, Number(name));
    if (facts !== undefined) return facts;
  }
  return undefined;
}
