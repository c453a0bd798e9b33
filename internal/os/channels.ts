// Pipes and the owner of a namespace. Bun's own "pipe" is a socket, which a program cannot open again
// as /dev/stdout, and only the kernel knows which user namespace owns another one.

import { closeSync, fchownSync } from "node:fs";
import { checked, libc, pointerTo } from "./libc.ts";

const arm = process.arch === "arm64";
const SYS_pipe2 = arm ? 59 : 293;
const SYS_ioctl = arm ? 29 : 16;
const O_CLOEXEC = 0o2000000;
/** ioctl request of linux/nsfs.h: a descriptor of the user namespace that owns this namespace. */
const NS_GET_USERNS = 0xb701;

/**
 * A pipe as [read end, write end], both close-on-exec. `owner` is who may open it again by its path
 * in /proc, e.g. as /dev/stdout; without it that is the maker alone.
 */
export function pipe(owner?: { readonly uid: number; readonly gid: number }): [number, number] {
  const pair = new Int32Array(2);
  checked(libc().syscall(SYS_pipe2, pointerTo(pair), O_CLOEXEC, 0, 0, 0, 0), "pipe2", "pipe");
  const ends: [number, number] = [pair[0] as number, pair[1] as number];
  try {
    if (owner) fchownSync(ends[1], owner.uid, owner.gid);
    return ends;
  } catch (error) {
    for (const end of ends) closeSync(end);
    throw error;
  }
}

/** A descriptor of the user namespace that owns the namespace `fd` is open on. */
export function owningUserNamespace(fd: number): number {
  const result = libc().syscall(SYS_ioctl, fd, NS_GET_USERNS, 0, 0, 0, 0);
  return checked(result, "ioctl", "NS_GET_USERNS");
}
