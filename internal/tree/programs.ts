// The five programs in a tree's `bin/`. A hard link when that is safe and possible, since each is
// over 100 MB; else a copy. Safe means that nobody but root or the tree's keeper can change the
// linked file later: a tree served by root must not run a file that a user can write.

import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
} from "node:fs";
import { join } from "node:path";
import { coded, fail } from "../abi/mod.ts";
import { openBeneath, temporaryName, throughFolder } from "../os/mod.ts";
import { factsBeneath, inFolder } from "./beneath.ts";
import { servedTools } from "./builtin-tools.ts";

export const programNames = ["ctx", "tsh", "ctxterm", "ctxmcp", "ctxd"] as const;

/** Bytes compared at once when a program in the tree may differ from the given one. */
const compareBytes = 1024 * 1024;

/** Where a sandbox has programs of the host, in the order in which it looks. */
const hostFolders = ["/usr/local/bin", "/usr/bin", "/bin"];

/** Which of the host's programs that can be tools are installed where a sandbox sees them. */
export function hostPrograms(): string[] {
  const names = servedTools.flatMap(({ program }) => program ?? []);
  return names.filter((name) => hostFolders.some((folder) => isExecutable(`${folder}/${name}`)));
}

function isExecutable(path: string): boolean {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts?.isFile() === true && (facts.mode & 0o111) !== 0;
}

/** The real file of one program. ENOENT when the folder has none. */
export function findProgram(binaries: string, name: string): { path: string; facts: Stats } {
  const path = join(binaries, name);
  try {
    const real = realpathSync(path);
    const facts = statSync(real);
    if (facts.isFile() && (facts.mode & 0o111) !== 0) return { path: real, facts };
  } catch (error) {
    const { code, message } = coded(error);
    if (code !== "ENOENT") {
      fail(code, `cannot look at program "${path}": ${message}`, { cause: error });
    }
  }
  return fail("ENOENT", `cannot find program "${name}" in "${binaries}"`, {
    hint: "build the programs first, all five go together",
  });
}

/** True when `relative` in the tree is this program already, by identity or by content. */
export function isProgram(root: number, relative: string, binaries: string, name: string): boolean {
  const there = factsBeneath(root, relative);
  const { path, facts } = findProgram(binaries, name);
  if (there === undefined || !there.isFile() || there.size !== facts.size) return false;
  if (there.dev === facts.dev && there.ino === facts.ino) return true;
  return (there.mode & 0o555) === 0o555 && sameContent(root, relative, path);
}

function sameContent(root: number, relative: string, path: string): boolean {
  const a = openBeneath(root, relative, "read");
  const b = openSync(path, constants.O_RDONLY);
  try {
    const left = new Uint8Array(compareBytes);
    const right = new Uint8Array(compareBytes);
    for (;;) {
      const count = readFull(a, left);
      if (count !== readFull(b, right)) return false;
      if (Buffer.compare(left.subarray(0, count), right.subarray(0, count)) !== 0) return false;
      if (count < compareBytes) return true;
    }
  } finally {
    closeSync(a);
    closeSync(b);
  }
}

function readFull(fd: number, buffer: Uint8Array): number {
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return length;
}

/** Puts a program in place, atomically: a process that runs the old one keeps it. */
export function placeProgram(root: number, relative: string, binaries: string): void {
  inFolder(root, relative, (folder, name) => {
    const { path, facts } = findProgram(binaries, name);
    const temporary = throughFolder(folder, temporaryName(name));
    try {
      if (!mayLink(facts) || !tryLink(path, temporary)) copy(path, temporary);
      renameSync(temporary, throughFolder(folder, name));
    } catch (error) {
      try {
        unlinkSync(temporary);
      } catch {
        // It was never made.
      }
      throw error;
    }
  });
}

function mayLink(facts: Stats): boolean {
  const trusted = facts.uid === 0 || facts.uid === process.geteuid?.();
  return trusted && (facts.mode & 0o022) === 0 && (facts.mode & 0o555) === 0o555;
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    // Another file system, one without links, too many links, or `protected_hardlinks`.
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(code))
      return false;
    throw error;
  }
}

function copy(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const fd = openSync(to, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    fchmodSync(fd, 0o755);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
