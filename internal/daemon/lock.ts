// One server a tree: an exclusive flock on a file of its runtime folder, held as long as the process
// lives, so that a killed server leaves nothing to clean up. The file's text names the holder.

import { closeSync, fstatSync, ftruncateSync, statSync } from "node:fs";
import { join } from "node:path";
import { fail } from "../abi/mod.ts";
import { openPath, readWhole, tryLock, writeAll } from "../os/mod.ts";

/** Text of the lock file: a pid. */
const lockBytesMax = 64;

/** Between two looks whether the lock's file still has its name, in milliseconds. */
const lockCheckMs = 1000;

export interface ServerLock {
  /**
   * Calls `lost` once when the file was removed or replaced. Nobody finds a server without its runtime
   * folder, and it would only keep a successor from the sessions. Gives what ends the watch.
   */
  watch(lost: () => void): () => void;
  release(): void;
}

/** Throws `session_locked` with the holder's pid when another server has it. */
export function takeServerLock(runtime: string, source: string): ServerLock {
  const path = join(runtime, "ctxd.lock");
  for (;;) {
    const fd = openPath(path, "append", 0o600);
    try {
      if (!tryLock(fd)) refuse(fd, source);
      // A file that was replaced before the lock was taken guards nothing.
      if (!isNamed(path, fd)) {
        closeSync(fd);
        continue;
      }
      ftruncateSync(fd);
      writeAll(fd, new TextEncoder().encode(`${process.pid}\n`));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    return { watch: (lost) => watch(path, fd, lost), release: () => closeSync(fd) };
  }
}

function watch(path: string, fd: number, lost: () => void): () => void {
  const timer = setInterval(() => {
    if (isNamed(path, fd)) return;
    clearInterval(timer);
    lost();
  }, lockCheckMs);
  return () => clearInterval(timer);
}

function isNamed(path: string, fd: number): boolean {
  const named = statSync(path, { throwIfNoEntry: false });
  const open = fstatSync(fd);
  return named !== undefined && named.ino === open.ino && named.dev === open.dev;
}

function refuse(fd: number, source: string): never {
  const text = new TextDecoder().decode(readWhole(fd, lockBytesMax)).trim();
  const holder = /^[0-9]+$/.test(text) ? `pid ${text}` : "another process";
  return fail("session_locked", `cannot serve tree "${source}": ${holder} serves it already`, {
    hint: "use that server, or stop it first",
  });
}
