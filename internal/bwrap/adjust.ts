// What only the host can do to a sandbox that stands and has run nothing: mount flags that this
// bubblewrap has no option for, and a bound on processes where the resource limit does not hold.

import { closeSync, openSync, readFileSync } from "node:fs";
import { fail } from "../abi/mod.ts";
import { owningUserNamespace, type ProcessStamp } from "../os/mod.ts";
import { sandboxProcessesMax } from "../sandbox/mod.ts";
import { hostProgram } from "./programs.ts";
import { type Identity, identityProgram } from "./setpriv.ts";

/**
 * The kernel keeps numbers below 300 for the first round (RESERVED_PIDS), and after it gives out
 * only those above, so this many are usable for good.
 */
const pidMax = 300 + sandboxProcessesMax;

/** First kernel whose kernel.pid_max belongs to the pid namespace; before, it is the host's. */
const pidMaxKernel = [6, 14] as const;

/** Remounts each view noexec. Nothing of the agent runs yet, and mount(8) is the host's own. */
export async function forbidExecution(
  init: ProcessStamp,
  views: readonly string[],
  identity: Identity | undefined,
): Promise<void> {
  for (const view of views) {
    const flags = "remount,bind,noexec,nosuid,nodev";
    const readOnly = isReadOnly(init, view) ? ",ro" : "";
    const mount = ["/usr/bin/mount", "-n", "-o", flags + readOnly, "none", view];
    const status = await enter(init, ["user", "mnt", "pid"], mount, identity);
    if (status !== 0) fail("EHOSTDOWN", `cannot forbid execution below "${view}" in the sandbox`);
  }
}

function isReadOnly(init: ProcessStamp, view: string): boolean {
  const line = readFileSync(`/proc/${init.pid}/mountinfo`, "utf8")
    .split("\n")
    .findLast((each) => each.split(" ")[4] === view);
  return line?.split(" ")[5]?.split(",").includes("ro") ?? false;
}

/**
 * Bounds the processes of a sandbox whose kernel uid is 0, for which RLIMIT_NPROC does not count.
 * Throws EACCES on a kernel that has no such bound for one namespace.
 */
export async function limitProcesses(init: ProcessStamp): Promise<void> {
  const release = readFileSync("/proc/sys/kernel/osrelease", "utf8");
  if (!isPidMaxPrivate(release)) {
    fail("EACCES", `cannot bound the processes of uid 0 on kernel ${release.trim()}`, {
      hint: "use an agent uid other than 0, or a kernel of 6.14 or later",
    });
  }
  const file = "/proc/sys/kernel/pid_max";
  const script = `echo ${pidMax} > ${file} && test "$(cat ${file})" = ${pidMax}`;
  const status = await enter(init, ["pid"], ["/bin/sh", "-c", script]);
  if (status !== 0) fail("EACCES", "cannot bound the processes of uid 0 in this sandbox");
}

export function isPidMaxPrivate(release: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  const [needMajor, needMinor] = pidMaxKernel;
  return Number(major) > needMajor || (Number(major) === needMajor && Number(minor) >= needMinor);
}

type Namespace = "user" | "mnt" | "pid";

/** Runs a host program inside some namespaces of the sandbox, from outside of its filter. */
async function enter(
  init: ProcessStamp,
  namespaces: readonly Namespace[],
  command: readonly string[],
  identity?: Identity,
): Promise<number> {
  const nsenter =
    hostProgram("nsenter") ??
    fail("EHOSTDOWN", "cannot enter the sandbox: no nsenter on this host", {
      hint: "apt-get install util-linux",
    });
  const flags = { user: "--user", mnt: "--mount", pid: "--pid" };
  const as = identityProgram(identity);
  const fds: number[] = [];
  try {
    const options = namespaces.map((name, index) => {
      fds.push(openNamespace(init, name));
      return `${flags[name]}=/proc/self/fd/${index + 3}`;
    });
    const child = Bun.spawn(
      [...as, nsenter, "--preserve-credentials", ...options, "--", ...command],
      {
        env: {},
        cwd: "/",
        stdio: ["ignore", "ignore", "ignore", ...fds],
      },
    );
    return await child.exited;
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}

/**
 * The user namespace is the one that owns the others: bubblewrap has moved on to a nested one. In
 * it the agent's uid is called 0 and may do everything, so one enters as the agent.
 */
function openNamespace(init: ProcessStamp, name: Namespace): number {
  if (name !== "user") return openSync(`/proc/${init.pid}/ns/${name}`, "r");
  const mounts = openSync(`/proc/${init.pid}/ns/mnt`, "r");
  try {
    return owningUserNamespace(mounts);
  } finally {
    closeSync(mounts);
  }
}
