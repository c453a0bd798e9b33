// Processes of a control group, from the kernel and not from whoever manages it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where systemd's hierarchy is mounted: unified, or beside the older ones. */
const mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"];

/** Of the group and all below it; none when there is no such group. */
export function groupProcesses(group: string): number[] {
  return [...new Set(mounts.flatMap((mount) => below(join(mount, group))))];
}

function below(folder: string): number[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory());
    const own = readFileSync(join(folder, "cgroup.procs"), "utf8").trim();
    const pids = own === "" ? [] : own.split("\n").map(Number);
    return [...pids, ...entries.flatMap(({ name }) => below(join(folder, name)))];
  } catch {
    // Gone, or not of this hierarchy.
    return [];
  }
}
