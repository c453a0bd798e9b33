// One file that a writer appends to: opened at its name, checked, and locked. The lock is an flock on
// the file itself, besides the lock by path in the runtime folder: two servers with two runtime
// folders have two of those, but there is one inode. A file that no longer has its name is lost,
// since what is written to it would vanish with the last descriptor.

import { closeSync, fchmodSync, fstatSync, fsyncSync } from "node:fs";
import { coded, fail } from "../abi/mod.ts";
import { type FileOwner, isFileAt, openBeneath, statBeneath, tryLock } from "../os/mod.ts";
import { giveTo, type Root, withFolder } from "./folders.ts";

/**
 * Opens a log file for reading and appending and makes it when it is missing. A file that is not
 * regular, has a second name, or belongs to neither the owner nor this process is refused: the
 * writer would otherwise append to whatever somebody linked there. Throws session_locked while
 * another writer has it.
 */
export function openLogFile(root: Root, relative: string, owner: FileOwner): number {
  // What open(2) would refuse with a code of its own, such as a folder, is refused as one of these.
  logFileSize(root, relative);
  const fd = openBeneath(root.fd, relative, "append", 0o600);
  try {
    const facts = fstatSync(fd);
    const self = process.getuid?.() ?? -1;
    if (!facts.isFile() || facts.nlink !== 1) refuse(relative);
    if (facts.uid !== owner.uid && facts.uid !== self) {
      fail("EACCES", `"${relative}" belongs to uid ${facts.uid}, not to ${owner.uid}`);
    }
    if (!tryLock(fd)) {
      fail("session_locked", `"${relative}" is held by another process`, {
        hint: "another server may serve this tree from another runtime folder; stop one of them",
      });
    }
    if (facts.size === 0) {
      fchmodSync(fd, 0o600);
      giveTo(fd, owner);
      const folder = relative.slice(0, relative.lastIndexOf("/"));
      withFolder(root, folder, fsyncSync);
    }
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function refuse(relative: string): never {
  return fail("EACCES", `"${relative}" is not a regular file with one name`);
}

/** Undefined when nothing has the name. */
function statOf(root: Root, relative: string) {
  try {
    return statBeneath(root.fd, relative);
  } catch (error) {
    if (coded(error).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Bytes of a log file; undefined when it is missing. Throws EACCES when it is no file. */
export function logFileSize(root: Root, relative: string): number | undefined {
  const facts = statOf(root, relative);
  if (facts !== undefined && !facts.isFile()) refuse(relative);
  return facts?.size;
}

/** Whether the open file still is the one with this name, a path for looks below the root. */
export function hasItsName(root: Root, relative: Uint8Array, fd: number): boolean {
  try {
    return isFileAt(root.fd, relative, fd);
  } catch {
    // A symlink or something unreadable has the name now.
    return false;
  }
}
