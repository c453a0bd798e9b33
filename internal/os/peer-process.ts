// The process behind a connection, pinned: a pidfd names the very process that connected, whatever
// becomes of its pid number.

import { openPid, type PeerCredentials, peerCredentials } from "./descriptors.ts";
import { checked, errno, libc, pointerTo } from "./libc.ts";
import { readProcFile } from "./proc-file.ts";
import { type ProcessFacts, processFacts } from "./process-facts.ts";

const SOL_SOCKET = 1;
const SO_PEERPIDFD = 77;
const ENOPROTOOPT = 92;

export interface PeerProcess extends PeerCredentials {
  /** Close-on-exec; whoever asked closes it. */
  readonly pidfd: number;
}

/**
 * Who connected, with SO_PEERPIDFD. Before Linux 6.5 the pid is opened instead: that names the same
 * process only if the number was not reused since the peer connected, so ask at once. Throws
 * SystemError when the process is gone.
 */
export function peerProcess(fd: number): PeerProcess {
  const credentials = peerCredentials(fd);
  return { ...credentials, pidfd: peerDescriptor(fd) ?? openPid(credentials.pid) };
}

function peerDescriptor(fd: number): number | undefined {
  const value = new Int32Array([-1]);
  const size = new Uint32Array([4]);
  const result = libc().getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, pointerTo(value), pointerTo(size));
  if (result < 0 && errno() === ENOPROTOOPT) return undefined;
  checked(result, "getsockopt", "SO_PEERPIDFD");
  return value[0] as number;
}

/** The pid that a pidfd has now in this pid namespace; undefined once its process was reaped. */
export function pidOf(pidfd: number): number | undefined {
  const text = readProcFile(`/proc/self/fdinfo/${pidfd}`);
  const pid = Number(/^Pid:\s*(-?\d+)$/m.exec(text)?.[1]);
  return pid > 0 ? pid : undefined;
}

/**
 * A process and its ancestors, nearest first, each read once: up to the one that `ends` accepts, to
 * one without a parent, or to one that cannot be read, which is then missing. At most `stepsMax`.
 */
export function ancestors(
  pid: number,
  stepsMax: number,
  ends: (facts: ProcessFacts) => boolean,
): ProcessFacts[] {
  const steps: ProcessFacts[] = [];
  for (let next = pid; next > 0 && steps.length < stepsMax; ) {
    const facts = processFacts(next);
    if (facts === undefined) break;
    steps.push(facts);
    if (ends(facts)) break;
    next = facts.parent;
  }
  return steps;
}
