// connect(2) on Unix sockets where the runtime's own client hides the errno or the socket type.

import { closeSync, writeSync } from "node:fs";
import { checked, cString, errno, libc, pointerTo, SystemError } from "./libc.ts";

const AF_UNIX = 1;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const SOCK_NONBLOCK = 0o4000;
const EAGAIN = 11;
const ENOENT = 2;
const ECONNREFUSED = 111;
const SYS_connect = process.arch === "arm64" ? 203 : 42;

/** A connected, non-blocking Unix socket; throws SystemError with connect's own errno. */
function connectUnix(path: string, type: number): number {
  // A leading "@" names the abstract namespace, as systemd writes it in NOTIFY_SOCKET.
  const abstract = path.startsWith("@");
  const name = cString(path);
  const length = abstract ? name.length - 1 : name.length;
  const address = new Uint8Array(2 + length);
  new DataView(address.buffer).setUint16(0, AF_UNIX, true);
  address.set(name.subarray(0, length), 2);
  if (abstract) address[2] = 0;
  const flags = type | SOCK_CLOEXEC | SOCK_NONBLOCK;
  const fd = checked(libc().socket(AF_UNIX, flags, 0), "socket", path);
  const result = libc().syscall(SYS_connect, fd, pointerTo(address), address.length, 0, 0, 0);
  if (Number(result) === 0) return fd;
  const number = errno();
  closeSync(fd);
  throw new SystemError("connect", number, path);
}

/** Whether somebody listens at a path of at most 107 bytes: `full` is a listener with no room. */
export function probeUnix(path: string): "listening" | "full" | "refused" | "absent" {
  try {
    closeSync(connectUnix(path, SOCK_STREAM));
    return "listening";
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (error.errno === EAGAIN) return "full";
    if (error.errno === ECONNREFUSED) return "refused";
    if (error.errno === ENOENT) return "absent";
    throw error;
  }
}

/** Sends one datagram, as sd_notify(3) does. Throws SystemError when nobody receives it. */
export function sendDatagram(path: string, text: string): void {
  const fd = connectUnix(path, SOCK_DGRAM);
  try {
    writeSync(fd, text);
  } finally {
    closeSync(fd);
  }
}
