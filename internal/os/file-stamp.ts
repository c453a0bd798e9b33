// What tells a file from every other one and from itself after a change: device, inode, type and mode,
// size, and both times to the nanosecond. Taken as the kernel gives it, since a decision looks at dozens
// of files and most look as they did before.

import { constants } from "node:os";
import { cString, errno, libc } from "./libc.ts";

// The kernel's fcntl.h and stat.h, equal on x86-64 and arm64.
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
/** STATX_TYPE, MODE, MTIME, CTIME, INO and SIZE. */
const wanted = 0x3c3;
const statxBytes = 256;

// Where struct statx has what a stamp is made of; all else is blanked.
const modeAt = 28;
const sizeEnd = 48;
const changeTimeAt = 96;
const deviceEnd = 144;

const typeMask = 0o170000;
const types: ReadonlyMap<number, FileStamp["kind"]> = new Map([
  [0o100000, "file"],
  [0o040000, "folder"],
]);

export interface FileStamp {
  readonly kind: "file" | "folder" | "other";
  /** Equal to the letter for a file that has not changed. Overwritten by the next look. */
  readonly bytes: Buffer;
  /** Of the last change of anything, in nanoseconds since 1970. */
  readonly changeTime: () => bigint;
}

/** A path for many looks. */
export function lookPath(path: string): Uint8Array {
  return cString(path);
}

const area = Buffer.alloc(statxBytes);
const bytes = area.subarray(0, deviceEnd);

/** No symlink is followed at the end. "absent" when nothing is there, undefined when nobody can tell. */
export function lookAt(path: Uint8Array): FileStamp | "absent" | undefined {
  if (libc().statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, wanted, area) !== 0) {
    return errno() === constants.errno.ENOENT ? "absent" : undefined;
  }
  area.fill(0, 0, modeAt);
  area.fill(0, sizeEnd, changeTimeAt);
  const kind = types.get(area.readUInt16LE(modeAt) & typeMask) ?? "other";
  return { kind, bytes, changeTime };
}

function changeTime(): bigint {
  const seconds = area.readBigInt64LE(changeTimeAt);
  return seconds * 1_000_000_000n + BigInt(area.readUInt32LE(changeTimeAt + 8));
}
