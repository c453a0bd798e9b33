// What an earlier server may have left: bubblewrap's child, blocked because its parent was killed in
// the one step before it would wake it. Nothing of an agent ran in it. A living sandbox has a living
// bubblewrap above it, so the two cannot be taken for each other.

import { readdirSync, readFileSync } from "node:fs";
import { processFacts } from "../os/mod.ts";
import { gateMark } from "../sandbox/mod.ts";

/** Ends such processes, of any user this one may signal. Returns how many there were. */
export function endOrphans(): number {
  let ended = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    const pid = Number(name);
    if (!isLaunch(pid) || !isFirstOfNamespace(pid)) continue;
    const parent = processFacts(pid)?.parent;
    if (parent === undefined || isLaunch(parent)) continue;
    try {
      process.kill(pid, "SIGKILL");
      ended += 1;
    } catch {
      // Ended meanwhile, or another user's.
    }
  }
  return ended;
}

/** A bubblewrap that was started with our gate. */
function isLaunch(pid: number): boolean {
  const [program, ...rest] = text(pid, "cmdline").split("\0");
  return program?.endsWith("/bwrap") === true && rest.some((each) => each.includes(gateMark));
}

function isFirstOfNamespace(pid: number): boolean {
  return /^NSpid:.*\t1$/m.test(text(pid, "status"));
}

function text(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
