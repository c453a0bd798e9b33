// Control groups for a booted systemd: nspawn makes its own below the one that it is started in, and the
// one that a test runs in is shared with everything else of the machine.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

const NAMED = "name=systemd";

/** Of the boots of this process. */
let number = 0;

/** A group of its own below this process's in systemd's and the unified hierarchy. Throws without. */
export function makeGroups(): string[] {
  number += 1;
  const mine = new Map<string, string>();
  for (const line of readFileSync("/proc/self/cgroup", "utf8").trim().split("\n")) {
    const [, id = "", group = ""] = /^(?:\d+):([^:]*):(.*)$/.exec(line) ?? [];
    mine.set(id, group);
  }
  const found: string[] = [];
  for (const line of readFileSync("/proc/self/mounts", "utf8").trim().split("\n")) {
    const [, mount = "", type, flags = ""] = line.split(" ");
    const id = type === "cgroup2" ? "" : flags.split(",").includes("name=systemd") ? NAMED : null;
    const group = id === null ? undefined : mine.get(id);
    if (group === undefined || (type !== "cgroup2" && type !== "cgroup")) continue;
    const parent = join(mount, group);
    // Of a test that was killed: its group stays, empty.
    for (const name of readdirSync(parent)) {
      const [, pid] = /^ctx-boot-([0-9]+)-/.exec(name) ?? [];
      if (pid !== undefined && !existsSync(`/proc/${pid}`)) removeGroups(join(parent, name));
    }
    const own = join(parent, `ctx-boot-${process.pid}-${number}`);
    mkdirSync(own);
    found.push(own);
  }
  if (found.length === 0) throw new Error("systemd's hierarchy is not mounted");
  return found;
}

/** Removes what is empty; a group that still has processes is somebody's and refuses. */
export function removeGroups(folder: string): void {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) removeGroups(join(folder, entry.name));
    }
    rmdirSync(folder);
  } catch {
    // Somebody's, or gone meanwhile.
  }
}
