// How the file tools reach a file: paths against the working folder, regular files only, never
// waiting on a pipe or a device, whole files replaced atomically. Inside a sandbox the mounts are
// the boundary; these functions only see to it that a tool does what its name says.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { CodedError, fail, foldErrno } from "../abi/mod.ts";

/** A file that is read or written whole. Past it EMSGSIZE; a part can still be read. */
export const fileBytesMax = 8 * 1024 * 1024;

/** The words for kinds in listings: what a reader can act on. */
export function listedKind(facts: Stats): string {
  const kind = fileKind(facts);
  return kind === "file" || kind === "folder" || kind === "symlink" ? kind : "other";
}

/** The absolute path of `path` seen from `cwd`; `.` and `..` are left to the kernel. */
export function absolute(cwd: string, path: string): string {
  if (path.startsWith("/")) return path;
  return cwd.endsWith("/") ? cwd + path : `${cwd}/${path}`;
}

export function fileKind(facts: Stats): string {
  if (facts.isFile()) return "file";
  if (facts.isDirectory()) return "folder";
  if (facts.isSymbolicLink()) return "symlink";
  if (facts.isFIFO()) return "fifo";
  if (facts.isSocket()) return "socket";
  return "device";
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "it is on a read-only place",
  ENOSPC: "no space is left",
  EDQUOT: "no space is left",
  ENOTDIR: "a part of the path is not a folder",
  EISDIR: "it is a folder",
  ELOOP: "it is a symlink",
  ENXIO: "it is not a regular file",
  ENAMETOOLONG: "its name is too long",
};

/** Turns a system error into one that names the action and the path. */
export function because(action: string, path: string, error: unknown): never {
  if (error instanceof CodedError) throw error;
  const name = (error as { code?: unknown }).code;
  if (typeof name !== "string") throw error;
  // A socket is refused by open(2) with ENXIO; to a person it is just not a file that can be read.
  const code = name === "ENXIO" ? "EINVAL" : foldErrno(name);
  return fail(code, `cannot ${action} ${JSON.stringify(path)}: ${reasons[name] ?? name}`);
}

/** Runs `body` and names `action` and `path` in whatever system error it meets. */
export function naming<T>(action: string, path: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    return because(action, path, error);
  }
}

/** Opens a regular file for reading. O_NONBLOCK: opening a pipe that nobody writes must not wait. */
export function openRegular(action: string, path: string, shown: string): [number, Stats] {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  return naming(action, shown, () => {
    const fd = openSync(path, flags);
    const facts = fstatSync(fd);
    if (facts.isFile()) return [fd, facts];
    closeSync(fd);
    const kind = fileKind(facts);
    const hint = kind === "folder" ? { hint: "use fs.list for a folder" } : {};
    return fail("EINVAL", `cannot ${action} ${JSON.stringify(shown)}: it is a ${kind}`, hint);
  });
}

/** Reads up to `length` bytes from `offset`; fewer at the end of the file. */
export function readRange(fd: number, offset: number, length: number): Uint8Array {
  const buffer = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, buffer, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/** The whole text of an open regular file. EMSGSIZE past `fileBytesMax`, EINVAL when binary. */
export function readText(action: string, fd: number, shown: string): string {
  // Files of /proc say they are empty, so the size is only a first guess.
  const guess = Math.min(fstatSync(fd).size, fileBytesMax) + 1;
  let bytes = readRange(fd, 0, guess);
  if (bytes.length === guess) bytes = readRange(fd, 0, fileBytesMax + 1);
  if (bytes.length > fileBytesMax) {
    const size = `it is larger than ${fileBytesMax} bytes`;
    fail("EMSGSIZE", `cannot ${action} ${JSON.stringify(shown)} whole: ${size}`, {
      hint: "read a part of it with offset and limit",
    });
  }
  return decodeText(action, bytes, shown);
}

/** Decodes UTF-8; a NUL or a broken sequence means that the file is not text. */
export function decodeText(action: string, bytes: Uint8Array, shown: string): string {
  if (!bytes.includes(0)) {
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      // Reported below, together with the NUL.
    }
  }
  return fail(
    "EINVAL",
    `cannot ${action} ${JSON.stringify(shown)}: it is not UTF-8 text (${bytes.length} bytes seen)`,
    { hint: "look at a binary file with shell.exec, for example file, xxd or base64" },
  );
}

/** What a file was when it was read, to notice that somebody else replaced it meanwhile. */
export interface Seen {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}

export interface ReplaceWith {
  readonly action: string;
  readonly path: string;
  readonly shown: string;
  readonly content: Uint8Array;
  /** Refuse with `busy` when the file is no longer this one. */
  readonly seen?: Seen;
}

/**
 * Replaces or creates a regular file: readers see the old or the new content, never a mixture. The
 * mode is kept. A symlink in the last component is refused: writing "through" it would change a
 * file that was not named, and replacing it would quietly turn it into a file.
 */
export function replaceRegular(request: ReplaceWith): { created: boolean } {
  const { action, path, shown } = request;
  return naming(action, shown, () => {
    const before = lstatSync(path, { throwIfNoEntry: false });
    if (before && !before.isFile()) refuseKind(action, shown, fileKind(before));
    const random = crypto.getRandomValues(new Uint8Array(6)).toHex();
    const cut = path.lastIndexOf("/") + 1;
    const temporary = `${path.slice(0, cut)}.${path.slice(cut, cut + 200)}.${random}.tmp`;
    const fd = openSync(temporary, "wx", 0o666);
    try {
      try {
        for (let at = 0; at < request.content.length; ) at += writeSync(fd, request.content, at);
        if (before) fchmodSync(fd, before.mode & 0o777);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      if (request.seen) refuseChanged(action, path, shown, request.seen);
      renameSync(temporary, path);
    } catch (error) {
      unlinkQuietly(temporary);
      throw error;
    }
    return { created: before === undefined };
  });
}

function refuseKind(action: string, shown: string, kind: string): never {
  const subject = `cannot ${action} ${JSON.stringify(shown)}: it is a ${kind}`;
  if (kind !== "symlink") return fail(kind === "folder" ? "EINVAL" : "EACCES", subject);
  return fail("EACCES", subject, { hint: "name the file that the link points to" });
}

function refuseChanged(action: string, path: string, shown: string, seen: Seen): void {
  const now = lstatSync(path, { throwIfNoEntry: false });
  const same = now && now.ino === seen.ino && now.size === seen.size;
  if (same && now.mtimeMs === seen.mtimeMs) return;
  fail("busy", `cannot ${action} ${JSON.stringify(shown)}: it changed while it was being edited`, {
    hint: "read it again and repeat the edit",
  });
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was renamed already, or never made.
  }
}
