// The only owner of libc. Calls are made through bun:ffi; the library is opened at the first call,
// so that a command that needs none of it pays nothing. Every wrapper throws a SystemError with the
// errno name, and every descriptor it returns is close-on-exec. x86-64 and arm64 only.

import { CString, dlopen, type Pointer, ptr, read } from "bun:ffi";
import { constants } from "node:os";

const signatures = {
  syscall: { args: ["i64", "i64", "i64", "i64", "i64", "i64", "i64"], returns: "i64" },
  flock: { args: ["i32", "i32"], returns: "i32" },
  memfd_create: { args: ["ptr", "u32"], returns: "i32" },
  socket: { args: ["i32", "i32", "i32"], returns: "i32" },
  socketpair: { args: ["i32", "i32", "i32", "ptr"], returns: "i32" },
  bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
  listen: { args: ["i32", "i32"], returns: "i32" },
  getsockopt: { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" },
  getgroups: { args: ["i32", "ptr"], returns: "i32" },
  fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
  prctl: { args: ["i32", "i64", "i64", "i64", "i64"], returns: "i32" },
  statx: { args: ["i32", "ptr", "i32", "u32", "ptr"], returns: "i32" },
  strerror: { args: ["i32"], returns: "ptr" },
  __errno_location: { args: [], returns: "ptr" },
} as const;

function open() {
  return dlopen("libc.so.6", signatures).symbols;
}

let opened: ReturnType<typeof open> | undefined;

export function libc(): ReturnType<typeof open> {
  opened ??= open();
  return opened;
}

const errnoNames: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, number]) => [number, name]),
);

/** An error of a system call, in the shape of node's own (`code` is the errno name). */
export class SystemError extends Error {
  readonly code: string;
  readonly errno: number;
  readonly syscall: string;

  constructor(syscall: string, errno: number, subject: string) {
    const code = errnoNames.get(errno) ?? `errno ${errno}`;
    const text = libc().strerror(errno);
    const reason = text === null ? code : new CString(text as Pointer).toString();
    super(`${syscall} ${JSON.stringify(subject)}: ${reason}`);
    this.name = "SystemError";
    this.code = code;
    this.errno = errno;
    this.syscall = syscall;
  }
}

/** The calling thread's errno; only meaningful right after a failed call. */
export function errno(): number {
  const at = libc().__errno_location();
  return at === null ? 0 : read.i32(at as Pointer, 0);
}

/** Returns `result` as a number, or throws what errno says when it is -1. */
export function checked(result: number | bigint, syscall: string, subject: string): number {
  const value = Number(result);
  if (value < 0) throw new SystemError(syscall, errno(), subject);
  return value;
}

/** A NUL-terminated copy; throws EINVAL on an embedded NUL instead of cutting the name short. */
export function cString(text: string): Uint8Array {
  if (text.includes("\0")) throw new SystemError("path", constants.errno.EINVAL, text);
  return new TextEncoder().encode(`${text}\0`);
}

export const pointerTo = ptr;
