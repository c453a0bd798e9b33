// The single-writer lock: an exclusive flock on a runtime file named by the hash of the canonical
// session path. The kernel releases it when its holder dies. The file's name is part of the lock:
// a holder whose file was replaced or removed has lost it, because a contender could then lock the
// new file without anybody noticing. The file says who holds it and a mark of the holder, which a
// successor finds when the holder was killed; it does not outlive a restart of the machine.

import { createHash } from "node:crypto";
import { closeSync, fstatSync, ftruncateSync, mkdirSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CodedError, coded, fail } from "../abi/mod.ts";
import {
  isFileAt,
  lookPath,
  openBeneath,
  openPath,
  readBeneath,
  throughFolder,
  tryLock,
} from "../os/mod.ts";

/** Times that a lock file may vanish under a contender before it gives up. */
const takeAttemptsMax = 16;

/** The whole lock file: one write of this size is never seen half done, not even by a kill. */
const lockBytes = 128;

export interface LockFolder {
  /** Takes the lock of `canonicalPath`; session_locked when another holder lives. */
  take(canonicalPath: string, subject: string): HeldLock;
  close(): void;
}

export interface HeldLock {
  /** The last mark of a holder that died without releasing it, on this boot of the machine. */
  readonly left: string | undefined;
  /** False once the lock's file is not the one that is held any more. */
  held(): boolean;
  /** Leaves a short mark for whoever comes after a sudden death. */
  mark(text: string): void;
  release(): void;
  /** Gives it up as a death would: the file and its mark stay. */
  abandon(): void;
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
    const fd = openLock(folder, name);
    if (fd === undefined) continue;
    try {
      const [pid] = contentOf(folder, name);
      if (!tryLock(fd)) return fail("session_locked", `${subject} is held by ${holder(pid)}`);
      if (isFileAt(folder, lookPath(name), fd)) return heldLock(folder, name, fd);
    } catch (error) {
      closeSync(fd);
      if (error instanceof CodedError) throw error;
      const { code, message } = coded(error);
      throw new CodedError(code, `cannot lock ${subject}: ${message}`, { cause: error });
    }
    // The last holder removed the file between our open and our lock: try its successor.
    closeSync(fd);
  }
  return fail("session_locked", `${subject} changes hands too fast to be locked`);
}

/** Undefined when the file was made or removed by somebody in the meantime: try again. */
function openLock(folder: number, name: string): number | undefined {
  try {
    return openBeneath(folder, name, "write");
  } catch (error) {
    if (coded(error).code !== "ENOENT") throw error;
  }
  try {
    return openBeneath(folder, name, "create", 0o600);
  } catch (error) {
    if (coded(error).code !== "EEXIST") throw error;
    return undefined;
  }
}

function heldLock(folder: number, name: string, fd: number): HeldLock {
  const [, left] = contentOf(folder, name);
  const path = lookPath(name);
  const held = () => isFileAt(folder, path, fd);
  const write = (mark: string) => {
    const text = `${process.pid}\n${mark}\n`.padEnd(lockBytes);
    writeSync(fd, new TextEncoder().encode(text), 0, lockBytes, 0);
  };
  ftruncateSync(fd, lockBytes);
  write(left ?? "");
  return {
    left,
    held,
    mark: write,
    abandon: () => closeSync(fd),
    release() {
      // Removing it while it is locked is safe: a contender compares names after it has locked.
      if (held()) unlinkSync(throughFolder(folder, name));
      closeSync(fd);
    },
  };
}

function contentOf(folder: number, name: string): [string | undefined, string | undefined] {
  try {
    const text = new TextDecoder().decode(readBeneath(folder, name, lockBytes));
    const [pid, mark] = text.split("\n");
    return [pid, mark === "" ? undefined : mark];
  } catch (error) {
    if (coded(error).code === "ENOENT") return [undefined, undefined];
    throw error;
  }
}

function holder(pid: string | undefined): string {
  return /^[0-9]+$/.test(pid ?? "") ? `pid ${pid}` : "another process";
}
