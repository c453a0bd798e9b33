// Descriptor-relative file access that follows no symlink, whole-file reads with a bound, atomic
// replacement and folder syncs. Everything that ctxd opens below a place an agent can write goes
// through here. Descriptors are plain numbers; whoever opens closes.

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { checked, cString, libc, pointerTo } from "./libc.ts";

// Values of the kernel's fcntl.h and openat2.h, equal on x86-64 and (but for O_DIRECTORY and
// O_NOFOLLOW, taken from node) arm64.
const O_CLOEXEC = 0o2000000;
const O_PATH = 0o10000000;
const RESOLVE_NO_MAGICLINKS = 0x02;
const RESOLVE_NO_SYMLINKS = 0x04;
const RESOLVE_BENEATH = 0x08;
const RESOLVE_IN_ROOT = 0x10;
const SYS_openat2 = 437;
const SYS_renameat2 = process.arch === "arm64" ? 276 : 316;
const SYS_syncfs = process.arch === "arm64" ? 267 : 306;
const AT_FDCWD = -100;
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;

export type OpenMode = "read" | "write" | "append" | "create" | "folder" | "path";

const openFlags: Readonly<Record<OpenMode, number>> = {
  read: constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
  write: constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
  append: constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOCTTY,
  create: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
  folder: constants.O_RDONLY | constants.O_DIRECTORY,
  path: O_PATH,
};

/**
 * Opens `relative` below the folder `dirfd` by openat2(2) with RESOLVE_BENEATH and NO_SYMLINKS: no
 * component may be a symlink and `..` may not leave the folder. `mode` bits apply to a new file.
 * Throws SystemError: ELOOP for a symlink, EXDEV for an escape.
 */
export function openBeneath(dirfd: number, relative: string, mode: OpenMode, bits = 0o600): number {
  return openat2(dirfd, relative, openFlags[mode], bits, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

/**
 * Finds `path` as a process whose root is the folder `rootfd` would: symlinks are followed, none
 * leads out of it. For looking only (O_PATH).
 */
export function openInRoot(rootfd: number, path: string): number {
  return openat2(rootfd, path, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

/** Opens an absolute path of the host; symlinks of the administrator are followed, magic ones not. */
export function openPath(path: string, mode: OpenMode, bits = 0o600): number {
  return openat2(AT_FDCWD, path, openFlags[mode], bits, RESOLVE_NO_MAGICLINKS);
}

function openat2(dirfd: number, path: string, flags: number, bits: number, resolve: number) {
  const how = new BigUint64Array(3);
  how[0] = BigInt(flags | O_CLOEXEC);
  how[1] = BigInt(flags & constants.O_CREAT ? bits : 0);
  how[2] = BigInt(resolve);
  const name = cString(path);
  const result = libc().syscall(SYS_openat2, dirfd, pointerTo(name), pointerTo(how), 24, 0, 0);
  return checked(result, "open", path);
}

/** The path by which other calls can use a folder's descriptor: `/proc/self/fd/N/name`. */
export function throughFolder(dirfd: number, name: string): string {
  return `/proc/self/fd/${dirfd}/${name}`;
}

export class TooLong extends Error {
  readonly code = "EMSGSIZE";
}

/** Reads an open regular file from its start. Throws TooLong past `bytesMax`, EINVAL if not regular. */
export function readWhole(fd: number, bytesMax: number): Uint8Array {
  const facts = fstatSync(fd);
  if (!facts.isFile()) throw Object.assign(new Error("not a regular file"), { code: "EINVAL" });
  const buffer = new Uint8Array(Math.min(facts.size, bytesMax) + 1);
  let length = 0;
  for (;;) {
    const count = readSync(fd, buffer, length, buffer.length - length, length);
    if (count === 0) return buffer.subarray(0, length);
    length += count;
    if (length > bytesMax) throw new TooLong(`file is larger than ${bytesMax} bytes`);
    if (length === buffer.length) throw new TooLong("file grew while it was read");
  }
}

/** `readWhole` of a file below `dirfd`, no symlink followed. */
export function readBeneath(dirfd: number, relative: string, bytesMax: number): Uint8Array {
  const fd = openBeneath(dirfd, relative, "read");
  try {
    return readWhole(fd, bytesMax);
  } finally {
    closeSync(fd);
  }
}

export function statBeneath(dirfd: number, relative: string): Stats {
  const fd = openBeneath(dirfd, relative, "path");
  try {
    return fstatSync(fd);
  } finally {
    closeSync(fd);
  }
}

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

export interface ReplaceOptions {
  readonly mode?: number;
  readonly owner?: FileOwner | undefined;
  /** False for derived files that can be rebuilt: no fsync, still atomic. */
  readonly durable?: boolean;
}

/**
 * Replaces `name` in the folder `dirfd` so that readers see the old or the new content and, when
 * durable, a crash leaves one of both: temporary file there, fsync, rename, fsync of the folder.
 */
export function replaceFile(
  dirfd: number,
  name: string,
  content: string | Uint8Array,
  options: ReplaceOptions = {},
): void {
  const temporary = temporaryName(name);
  const durable = options.durable ?? true;
  const fd = openBeneath(dirfd, temporary, "create", options.mode ?? 0o644);
  try {
    try {
      writeAll(fd, typeof content === "string" ? new TextEncoder().encode(content) : content);
      fchmodSync(fd, options.mode ?? 0o644);
      if (options.owner) fchownSync(fd, options.owner.uid, options.owner.gid);
      if (durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(throughFolder(dirfd, temporary), throughFolder(dirfd, name));
  } catch (error) {
    try {
      unlinkSync(throughFolder(dirfd, temporary));
    } catch {
      // It was never made, or is renamed already.
    }
    throw error;
  }
  if (durable) fsyncSync(dirfd);
}

/** A name beside `name` that nothing else has: `.name.<12 hex digits>.tmp`. */
export function temporaryName(name: string): string {
  // Not node:crypto, whose import alone would cost every command several milliseconds.
  const random = crypto.getRandomValues(new Uint8Array(6)).toHex();
  return `.${name.slice(0, 200)}.${random}.tmp`;
}

/** Writes every byte at the descriptor's position or throws; a short write is continued. */
export function writeAll(fd: number, bytes: Uint8Array): void {
  let offset = 0;
  while (offset < bytes.length) offset += writeSync(fd, bytes, offset);
}

/** Renames within or between folders and fails with EEXIST instead of replacing (renameat2(2)). */
export function renameNoReplace(fromDir: number, from: string, toDir: number, to: string): void {
  renameat2(fromDir, from, toDir, to, RENAME_NOREPLACE);
}

/** Two names change what they stand for, at once: at no time is either of them missing. */
export function renameExchange(fromDir: number, from: string, toDir: number, to: string): void {
  renameat2(fromDir, from, toDir, to, RENAME_EXCHANGE);
}

function renameat2(fromDir: number, from: string, toDir: number, to: string, how: number): void {
  const a = cString(from);
  const b = cString(to);
  const result = libc().syscall(SYS_renameat2, fromDir, pointerTo(a), toDir, pointerTo(b), how, 0);
  checked(result, "rename", from);
}

/** Writes out everything of the file system that `fd` is on; one wait for many new files. */
export function syncFileSystem(fd: number): void {
  checked(libc().syscall(SYS_syncfs, fd, 0, 0, 0, 0, 0), "syncfs", String(fd));
}

export function syncFolder(path: string): void {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
