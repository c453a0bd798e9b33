// Descriptors that only the kernel can make: advisory locks, anonymous files, socket pairs, Unix
// listeners under a chosen mode, peers' credentials, pid descriptors.

import { chownSync, closeSync } from "node:fs";
import { writeAll } from "./files.ts";
import { checked, cString, errno, libc, pointerTo, SystemError } from "./libc.ts";

const LOCK_EX = 2;
const LOCK_NB = 4;
const LOCK_UN = 8;
const EAGAIN = 11;
const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_CLOEXEC = 0o2000000;
const SOCK_NONBLOCK = 0o4000;
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const MFD_CLOEXEC = 1;
const MFD_EXEC = 0x10;
const EINVAL = 22;
const SYS_pidfd_open = 434;
const SYS_pidfd_send_signal = 424;

/** Takes an exclusive flock(2) without waiting. False when another open description holds it. */
export function tryLock(fd: number): boolean {
  if (libc().flock(fd, LOCK_EX | LOCK_NB) === 0) return true;
  const number = errno();
  if (number === EAGAIN) return false;
  throw new SystemError("flock", number, String(fd));
}

export function unlock(fd: number): void {
  checked(libc().flock(fd, LOCK_UN), "flock", String(fd));
}

/** An anonymous file with this content, positioned at its start, for a child to inherit. */
export function memoryFile(
  name: string,
  content: Uint8Array,
  options: { readonly executable: boolean } = { executable: false },
): number {
  const label = cString(name);
  let made = libc().memfd_create(
    pointerTo(label),
    MFD_CLOEXEC | (options.executable ? MFD_EXEC : 0),
  );
  // Before Linux 6.3 every such file can be executed, and the flag is unknown.
  if (made < 0 && options.executable && errno() === EINVAL) {
    made = libc().memfd_create(pointerTo(label), MFD_CLOEXEC);
  }
  const fd = checked(made, "memfd_create", name);
  try {
    writeAll(fd, content);
    // Its offset is shared with the child that inherits it, so it goes back to the start.
    checked(libc().syscall(sysLseek, fd, 0, 0, 0, 0, 0), "lseek", name);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const sysLseek = process.arch === "arm64" ? 62 : 8;

/** A connected pair of stream sockets, both close-on-exec. */
export function streamPair(): [number, number] {
  const pair = new Int32Array(2);
  const result = libc().socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pointerTo(pair));
  checked(result, "socketpair", "stream");
  return [pair[0] as number, pair[1] as number];
}

export interface PeerCredentials {
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
}

/** SO_PEERCRED of a connected Unix socket: who it was when it connected, by the kernel's word. */
export function peerCredentials(fd: number): PeerCredentials {
  const value = new Int32Array(3);
  const size = new Uint32Array([12]);
  const result = libc().getsockopt(fd, SOL_SOCKET, SO_PEERCRED, pointerTo(value), pointerTo(size));
  checked(result, "getsockopt", "SO_PEERCRED");
  return {
    pid: value[0] as number,
    uid: (value[1] as number) >>> 0,
    gid: (value[2] as number) >>> 0,
  };
}

/** Bytes of a Unix socket path, the closing NUL included (sockaddr_un). Past it EINVAL. */
const socketPathBytesMax = 108;

/**
 * A listening Unix stream socket at `path`, mode 0600 (bound under umask 0177) and given to `owner`
 * before it listens. Use `throughFolder` for long paths. The caller removes a stale file first.
 */
export function listenUnix(
  path: string,
  backlog: number,
  owner?: { readonly uid: number; readonly gid: number },
): number {
  const name = cString(path);
  if (name.length > socketPathBytesMax) {
    throw new SystemError("bind", EINVAL, path);
  }
  const address = new Uint8Array(2 + name.length);
  new DataView(address.buffer).setUint16(0, AF_UNIX, true);
  address.set(name, 2);
  const type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const fd = checked(libc().socket(AF_UNIX, type, 0), "socket", path);
  const before = process.umask(0o177);
  try {
    checked(libc().bind(fd, pointerTo(address), address.length), "bind", path);
    if (owner) chownSync(path, owner.uid, owner.gid);
    checked(libc().listen(fd, backlog), "listen", path);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  } finally {
    process.umask(before);
  }
}

const SYS_shutdown = process.arch === "arm64" ? 210 : 48;

/**
 * From now on connect(2) to this listening socket is refused, whoever else holds it too. Those who
 * are connected already can still be accepted, so nobody is let in only to be cut.
 */
export function refuseConnections(fd: number): void {
  checked(libc().syscall(SYS_shutdown, fd, 0, 0, 0, 0, 0), "shutdown", String(fd));
}

/** A descriptor that names one process for good, whatever becomes of its pid number. */
export function openPid(pid: number): number {
  return checked(libc().syscall(SYS_pidfd_open, pid, 0, 0, 0, 0, 0), "pidfd_open", String(pid));
}

/** Signals the very process a pidfd names. False when it is gone already. */
export function signalPid(pidfd: number, signal: number): boolean {
  const result = libc().syscall(SYS_pidfd_send_signal, pidfd, signal, 0, 0, 0, 0);
  if (Number(result) === 0) return true;
  const number = errno();
  if (number === 3) return false;
  throw new SystemError("pidfd_send_signal", number, String(signal));
}

/** The supplementary groups of this process. */
export function supplementaryGroups(): number[] {
  const count = checked(libc().getgroups(0, null), "getgroups", "count");
  const list = new Uint32Array(Math.max(count, 1));
  const got = checked(libc().getgroups(count, pointerTo(list)), "getgroups", "list");
  return [...list.subarray(0, got)];
}
