// The single-writer lock: an exclusive flock on a runtime file named by the hash of the canonical
// session path. The kernel releases it when its holder dies. The file's name is part of the lock:
// a holder whose file was replaced or removed has lost it, because a contender could then lock the
// new file without anybody noticing.

import { createHash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  readSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { coded, fail } from "../abi/mod.ts";
import { openBeneath, openPath, throughFolder, tryLock, writeAll } from "../os/mod.ts";

/** Times that a lock file may vanish under a contender before it gives up. */
const takeAttemptsMax = 16;

export interface LockFolder {
  /** Takes the lock of `canonicalPath`; session_locked when another holder lives. */
  take(canonicalPath: string, subject: string): HeldLock;
  close(): void;
}

export interface HeldLock {
  /** False once the lock's file is not the one that is held any more. */
  held(): boolean;
  release(): void;
}

/** The folder of locks below the runtime folder; it must belong to this process and be private. */
export function openLockFolder(runtime: string): LockFolder {
  const path = join(runtime, "lock");
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const fd = openPath(path, "folder");
  const facts = fstatSync(fd);
  if (facts.uid !== process.getuid?.() || (facts.mode & 0o022) !== 0) {
    closeSync(fd);
    fail("EACCES", `lock folder "${path}" is not private to this user`, {
      hint: `remove it or make it mode 0700`,
    });
  }
  return {
    take: (canonicalPath, subject) => take(fd, canonicalPath, subject),
    close: () => closeSync(fd),
  };
}

function take(folder: number, canonicalPath: string, subject: string): HeldLock {
  const name = createHash("sha256").update(canonicalPath).digest("hex");
  for (let attempt = 0; attempt < takeAttemptsMax; attempt++) {
    const fd = openBeneath(folder, name, "append", 0o600);
    try {
      if (!tryLock(fd)) return fail("session_locked", `${subject} is held by ${holder(fd)}`);
      if (sameFile(folder, name, fd)) {
        ftruncateSync(fd, 0);
        writeAll(fd, new TextEncoder().encode(`${process.pid}\n`));
        return heldLock(folder, name, fd);
      }
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    // The last holder removed the file between our open and our lock: try its successor.
    closeSync(fd);
  }
  return fail("session_locked", `${subject} changes hands too fast to be locked`);
}

function heldLock(folder: number, name: string, fd: number): HeldLock {
  return {
    held: () => sameFile(folder, name, fd),
    release() {
      // Removing it while it is locked is safe: a contender compares names after it has locked.
      if (sameFile(folder, name, fd)) unlinkSync(throughFolder(folder, name));
      closeSync(fd);
    },
  };
}

function sameFile(folder: number, name: string, fd: number): boolean {
  try {
    const named = lstatSync(throughFolder(folder, name));
    const open = fstatSync(fd);
    return named.dev === open.dev && named.ino === open.ino;
  } catch (error) {
    if (coded(error).code === "ENOENT") return false;
    throw error;
  }
}

function holder(fd: number): string {
  const bytes = new Uint8Array(16);
  const text = new TextDecoder().decode(bytes.subarray(0, readSync(fd, bytes, 0, 16, 0))).trim();
  return /^[0-9]+$/.test(text) ? `pid ${text}` : "another process";
}
