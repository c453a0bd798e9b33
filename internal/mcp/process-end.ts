// The end of a server with everything that it started: its input closed, SIGTERM, SIGKILL. Reached are
// its process group, every descendant that /proc shows while its ancestors live, and, once this process
// adopts orphans, whatever else lost its parent below us. What left its session and lost its parent
// before that is out of reach on a bare host; in a sandbox the PID namespace ends it.

import { killGraceMs } from "../abi/mod.ts";
import {
  adoptChildren,
  descendants,
  jobState,
  type ProcessStamp,
  processFacts,
  sameProcess,
  signalGroup,
} from "../os/mod.ts";

type Child = Bun.Subprocess<"pipe", "pipe", "pipe">;

/** Pause between two looks at what is still there, in milliseconds. */
const lookMs = 20;

/** How long the kernel is given to carry out a SIGKILL, in milliseconds. */
const killedMs = 1000;

/** Servers of this process that have not ended. */
const leaders = new Set<number>();

let adopting = false;

/**
 * For a program that starts nothing but servers: what loses its parent below it becomes its child, and
 * ends with the last server.
 */
export function adoptOrphans(): void {
  adoptChildren();
  adopting = true;
}

/** Counts a server as one of ours from its start on. */
export function noteServer(pid: number): void {
  leaders.add(pid);
}

/**
 * Resolves when all of it is gone. `graceMs` is how long it may take to end by itself; then come the
 * grace of SIGTERM and at most two seconds for the kernel.
 */
export async function endProcess(child: Child, graceMs: number): Promise<void> {
  const tree = new Tree(child.pid);
  tree.look();
  // Not waited for: what it has not read yet stands before the end of its input.
  void Promise.resolve(child.stdin.end()).catch(() => {});
  await within(graceMs, child.exited);
  tree.look();
  if (tree.living()) {
    tree.signal(15);
    await tree.gone(killGraceMs);
  }
  if (tree.living()) {
    tree.signal(9);
    await tree.gone(killedMs, 9);
  }
  await within(killedMs, child.exited);
  leaders.delete(child.pid);
  tree.reap();
}

/** A leader and what is known to stem from it; a process is known by pid and start time. */
class Tree {
  private readonly leader: number;
  private readonly known = new Map<number, ProcessStamp>();

  constructor(leader: number) {
    this.leader = leader;
  }

  /** Finds what has been started since, while lineage still shows. */
  look(): void {
    const roots = [this.leader, ...(adopting && leaders.size === 1 ? this.adopted() : [])];
    for (const root of roots) {
      for (const pid of [root, ...descendants(root)]) {
        const facts = this.known.has(pid) ? undefined : processFacts(pid);
        if (facts !== undefined) this.known.set(pid, facts);
      }
    }
  }

  living(): boolean {
    return groupTakes(this.leader, 0) || [...this.known.values()].some(sameProcess);
  }

  signal(signal: number): void {
    groupTakes(this.leader, signal);
    for (const stamp of this.known.values()) {
      if (!sameProcess(stamp)) continue;
      try {
        process.kill(stamp.pid, signal);
      } catch {
        // It ended, or is another user's: then it is not ours to end.
      }
    }
  }

  /** Waits until nothing lives; what is newly found gets the signal too when one is given. */
  async gone(ms: number, again?: number): Promise<void> {
    const deadline = performance.now() + ms;
    while (this.living() && performance.now() < deadline) {
      await Bun.sleep(lookMs);
      this.look();
      if (again !== undefined) this.signal(again);
    }
  }

  /** Adopted children that have ended stay zombies until they are waited for. */
  reap(): void {
    for (const { pid } of this.known.values()) {
      if (pid === this.leader || processFacts(pid)?.parent !== process.pid) continue;
      try {
        jobState(pid);
      } catch {
        // Somebody has waited for it.
      }
    }
  }

  private adopted(): number[] {
    return descendants(process.pid).filter(
      (pid) => !leaders.has(pid) && processFacts(pid)?.parent === process.pid,
    );
  }
}

/** False when nobody of ours is in the group any more; another user's processes are not ours to end. */
function groupTakes(group: number, signal: number): boolean {
  try {
    return signalGroup(group, signal);
  } catch {
    return false;
  }
}

/** Settles with the promise, and after `ms` milliseconds at the latest. */
export function within(ms: number, promise: Promise<unknown>): Promise<unknown> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
