// What a world left running. As root every process of the world's own uid counts; as a user every
// bubblewrap that has become an orphan does, since its uid tells nothing.

import { readdirSync, readFileSync } from "node:fs";
import { isRoot, type World } from "./world.ts";

function status(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

export function leftovers(world: World): string[] {
  return processes(({ name, uid, parent }) =>
    isRoot ? uid === world.uid : name === "bwrap" && parent === 1,
  );
}

/** The sandboxes that the world's server has now. */
export function sandboxes(world: World): string[] {
  return processes(({ name, parent }) => name === "bwrap" && parent === world.serverPid);
}

interface Process {
  readonly name: string;
  readonly uid: number;
  readonly parent: number;
}

function processes(wanted: (process: Process) => boolean): string[] {
  const found: string[] = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const text = status(pid);
    if (text === "" || /^State:\s+Z/m.test(text)) continue;
    const name = text.match(/^Name:\s+(.*)$/m)?.[1] ?? "";
    const uid = Number(text.match(/^Uid:\s+(\d+)/m)?.[1]);
    const parent = Number(text.match(/^PPid:\s+(\d+)/m)?.[1]);
    if (wanted({ name, uid, parent })) found.push(`${pid} ${name}`);
  }
  return found;
}

/** Gives a torn-down tree of processes up to five seconds, then says what is still there. */
export async function leftoversAfterGrace(world: World): Promise<string[]> {
  const until = Date.now() + 5000;
  while (leftovers(world).length > 0 && Date.now() < until) await Bun.sleep(20);
  return leftovers(world);
}
