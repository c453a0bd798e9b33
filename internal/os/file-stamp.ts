// What tells a file from every other one and from itself after a change: owner, mode, device, inode,
// size, and both times to the nanosecond. Taken as the kernel gives it, since a decision looks at dozens
// of files and most look as they did before. Names are looked up in an open folder, which was reached
// without a symlink; of a symlink itself there is no stamp.

import { closeSync } from "node:fs";
import { constants } from "node:os";
import { checked, cString, errno, libc, pointerTo, SystemError } from "./libc.ts";

// The kernel's fcntl.h, stat.h and openat2.h, equal on x86-64 and (but for O_DIRECTORY and O_NOFOLLOW,
// which are not used with a number of our own) arm64.
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_EMPTY_PATH = 0x1000;
const O_PATH = 0o10000000;
const O_CLOEXEC = 0o2000000;
const RESOLVE_NO_SYMLINKS = 0x04;
const RESOLVE_BENEATH = 0x08;
const SYS_openat2 = 437;
/** STATX_TYPE, MODE, UID, GID, MTIME, CTIME, INO and SIZE. */
const wanted = 0x3db;
const statxBytes = 256;

// Where struct statx has what a stamp is made of: owner, mode and inode, then the size; times and device.
const ownerAt = 20;
const typeAt = 29;
const inodeAt = 32;
const sizeAt = 40;
const sizeEnd = 48;
const changeTimeAt = 96;
const deviceAt = 136;
const deviceEnd = 144;

/** Bytes of one stamp. */
export const stampBytes = sizeEnd - ownerAt + (deviceEnd - changeTimeAt);

// The same places in a stamp.
const stampSizeAt = sizeAt - ownerAt;
const stampTimesAt = sizeEnd - ownerAt;
const stampDeviceAt = stampTimesAt + (deviceAt - changeTimeAt);

/** The upper half of a mode's upper byte. */
const typeMask = 0xf0;
const fileType = 0x80;
const folderType = 0x40;

/** "other" when it is neither or when nobody can tell. */
export type Seen = "file" | "folder" | "absent" | "other";

/** A path or a name for many looks. */
export function lookPath(path: string): Uint8Array {
  return cString(path);
}

const area = Buffer.alloc(statxBytes);
const empty = cString("");

/** The root of the host, for `openToLook` with an absolute path. */
export const hostRoot = AT_FDCWD;

/** Flags, mode bits and how to resolve: no symlink anywhere, and below a folder nothing above it. */
const how = new BigUint64Array([BigInt(O_PATH | O_CLOEXEC), 0n, 0n]);

function openat2(dirfd: number, path: Uint8Array): number {
  how[2] = BigInt(RESOLVE_NO_SYMLINKS | (dirfd === hostRoot ? 0 : RESOLVE_BENEATH));
  return Number(libc().syscall(SYS_openat2, dirfd, pointerTo(path), pointerTo(how), 24, 0, 0));
}

/**
 * A folder below `dirfd` in which names are looked up; who asks closes it. No component is a symlink.
 * Undefined when it cannot be reached, for whatever reason.
 */
export function openToLook(dirfd: number, path: Uint8Array): number | undefined {
  const fd = openat2(dirfd, path);
  return fd >= 0 ? fd : undefined;
}

/**
 * Writes the stamp of what `folder` has under that name, of zeros when it is absent. A folder's is of
 * owner, mode and identity alone: what is in it is told by looks at its names.
 */
export function stampIn(folder: number, name: Uint8Array, stamps: Buffer, at: number): Seen {
  if (libc().statx(folder, name, AT_SYMLINK_NOFOLLOW, wanted, area) !== 0) {
    stamps.fill(0, at, at + stampBytes);
    return errno() === constants.errno.ENOENT ? "absent" : "other";
  }
  const type = (area[typeAt] as number) & typeMask;
  if (type === fileType) {
    whole(stamps, at);
    return "file";
  }
  stamps.fill(0, at, at + stampBytes);
  if (type !== folderType) return "other";
  area.copy(stamps, at, ownerAt, sizeAt);
  area.copy(stamps, at + stampDeviceAt, deviceAt, deviceEnd);
  return "folder";
}

export interface StampFacts {
  readonly kind: "file" | "folder";
  readonly uid: number;
  readonly gid: number;
  /** With the type, as in st_mode. */
  readonly mode: number;
}

/** What a stamp says of a file or folder. */
export function stampFacts(stamps: Buffer, at: number): StampFacts {
  const type = (stamps[at + typeAt - ownerAt] as number) & typeMask;
  return {
    kind: type === fileType ? "file" : "folder",
    uid: stamps.readUInt32LE(at),
    gid: stamps.readUInt32LE(at + 4),
    mode: stamps.readUInt16LE(at + 8),
  };
}

function whole(stamps: Buffer, at: number): void {
  area.copy(stamps, at, ownerAt, sizeEnd);
  area.copy(stamps, at + stampTimesAt, changeTimeAt, deviceEnd);
}

/** Of the last change of anything in a file, in nanoseconds since 1970. */
export function changeTime(stamps: Buffer, at: number): bigint {
  const seconds = stamps.readBigInt64LE(at + stampTimesAt);
  return seconds * 1_000_000_000n + BigInt(stamps.readUInt32LE(at + stampTimesAt + 8));
}

function statOf(fd: number): void {
  checked(libc().statx(fd, empty, AT_EMPTY_PATH, wanted, area), "statx", String(fd));
}

/** Bytes of an open file. */
export function sizeOf(fd: number): number {
  statOf(fd);
  return Number(area.readBigUInt64LE(sizeAt));
}

const named = Buffer.alloc(stampBytes);

/**
 * Whether the open file is the one at that path below `dirfd`. False when nothing is there or a symlink
 * is on the way; throws SystemError for what cannot be looked at.
 */
export function isFileAt(dirfd: number, path: Uint8Array, fd: number): boolean {
  const found = openat2(dirfd, path);
  if (found < 0) {
    const number = errno();
    if (number === constants.errno.ENOENT || number === constants.errno.ELOOP) return false;
    throw new SystemError("open", number, Buffer.from(path).toString("utf8", 0, path.length - 1));
  }
  try {
    statOf(found);
    whole(named, 0);
  } finally {
    closeSync(found);
  }
  statOf(fd);
  const sameInode = named.compare(area, inodeAt, sizeAt, inodeAt - ownerAt, stampSizeAt) === 0;
  return sameInode && named.compare(area, deviceAt, deviceEnd, stampDeviceAt, stampBytes) === 0;
}
