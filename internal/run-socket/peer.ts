// The peer of one connection: pinned when it connected, judged at every request. A connection proves
// nothing by itself, since its process can end or leave while the connection is held by another one.

import { closeSync } from "node:fs";
import { coded, fail } from "../abi/mod.ts";
import { ancestryDepthMax, judgeAncestry } from "../capability/mod.ts";
import {
  ancestors,
  type PeerProcess,
  type ProcessFacts,
  type ProcessStamp,
  pidOf,
  processFacts,
} from "../os/mod.ts";
import type { Connection } from "../sock/mod.ts";

/** Steps of a walk: the peer, its parents, and one more, which tells too deep from missing. */
const stepsMax = ancestryDepthMax + 2;

export class RunPeer {
  readonly #process: PeerProcess;
  readonly #startTime: string | undefined;

  /** Throws EACCES when the process is gone already. */
  constructor(connection: Pick<Connection, "pinPeer">) {
    try {
      this.#process = connection.pinPeer();
    } catch (error) {
      const { code, message } = coded(error);
      if (code === "busy") fail(code, `the peer cannot be looked at: ${message}`, { cause: error });
      refuse(message, error);
    }
    this.#startTime = processFacts(this.#process.pid)?.startTime;
  }

  /** Throws EACCES unless the peer is a process of the run that lives now. */
  check(uid: number, roots: readonly ProcessStamp[]): void {
    const { pid, pidfd, uid: peerUid } = this.#process;
    if (peerUid !== uid) refuse(`its uid is ${peerUid}, the run's is ${uid}`);
    const first = this.#walk(roots);
    const second = this.#walk(roots);
    const verdict = judgeAncestry(first, second, roots);
    if (!verdict.ok) refuse(verdict.because);
    // While the pinned process has this pid, what was read of the pid was read of that process.
    if (pidOf(pidfd) !== pid || first[0]?.startTime !== this.#startTime) refuse("it has ended");
  }

  close(): void {
    closeSync(this.#process.pidfd);
  }

  #walk(roots: readonly ProcessStamp[]): ProcessFacts[] {
    const isRoot = ({ pid, startTime }: ProcessFacts) =>
      roots.some((root) => root.pid === pid && root.startTime === startTime);
    return ancestors(this.#process.pid, stepsMax, isRoot);
  }
}

function refuse(because: string, cause?: unknown): never {
  return fail("EACCES", `the peer is not of this run: ${because}`, { cause });
}
