// The socket of a terminal: either handed in, or made here by the one owner that its lock admits. The
// lock lies beside the socket and is the kernel's, so it ends with its holder, however that ends; what
// the last one left behind is taken over. A socket of somebody else is never touched.

import { closeSync, fstatSync, lstatSync, unlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { coded, fail, quoted } from "../abi/mod.ts";
import { listenUnix, openBeneath, openPath, probeUnix, throughFolder, tryLock } from "../os/mod.ts";
import { terminalBacklogLength } from "./limits.ts";

export type ListenPlace = { readonly path: string } | { readonly fd: number };

export interface TerminalListener {
  readonly fd: number;
  /** Removes the socket's name when it is still ours, and lets a successor in. */
  release(): void;
}

/** Throws `busy` while another process owns the place, EACCES and EEXIST for what is in the way. */
export function openListener(place: ListenPlace): TerminalListener {
  if ("path" in place) return ownListener(place.path);
  if (!isSocket(place.fd)) {
    fail("EINVAL", `descriptor ${place.fd} is no listening socket`, {
      hint: "use --listen SOCKET, or hand in a socket that listens already",
    });
  }
  return { fd: place.fd, release: () => {} };
}

function isSocket(fd: number): boolean {
  try {
    return fstatSync(fd).isSocket();
  } catch (error) {
    if ((error as { code?: unknown }).code === "EBADF") return false;
    throw error;
  }
}

function ownListener(path: string): TerminalListener {
  const name = basename(path);
  const folder = openFolder(path);
  let lock: number | undefined;
  try {
    refuseOpenFolder(folder, path);
    lock = takeLock(folder, name, path);
    const bound = throughFolder(folder, name);
    clearStale(bound, path);
    const fd = listenUnix(bound, terminalBacklogLength);
    const { ino } = lstatSync(bound);
    const held = lock;
    const release = () => {
      if (lstatSync(bound, { throwIfNoEntry: false })?.ino === ino) unlinkSync(bound);
      closeSync(held);
      closeSync(folder);
    };
    return { fd, release };
  } catch (error) {
    if (lock !== undefined) closeSync(lock);
    closeSync(folder);
    throw error;
  }
}

function openFolder(path: string): number {
  try {
    return openPath(dirname(path), "folder");
  } catch (error) {
    const { code, message } = coded(error);
    fail(code, `cannot listen on ${quoted(path)}: ${message}`, { cause: error });
  }
}

/** Where others may rename and remove, none of what is done here would hold. */
function refuseOpenFolder(folder: number, path: string): void {
  const { mode, uid } = fstatSync(folder);
  const isSticky = (mode & 0o1000) !== 0;
  const trusted = uid === process.geteuid?.() || uid === 0;
  if (trusted && ((mode & 0o022) === 0 || isSticky)) return;
  fail("EACCES", `cannot listen on ${quoted(path)}: others may replace what is in its folder`, {
    hint: "use a folder of your own with mode 0700",
  });
}

function takeLock(folder: number, name: string, path: string): number {
  const lock = openLock(folder, `${name}.lock`, path);
  try {
    if (fstatSync(lock).uid !== process.geteuid?.()) {
      fail("EACCES", `cannot listen on ${quoted(path)}: its lock belongs to somebody else`);
    }
    if (tryLock(lock)) return lock;
    return fail("busy", `cannot listen on ${quoted(path)}: another ctxterm owns it`, {
      hint: "join it with ctx agent attach, or end it first",
    });
  } catch (error) {
    closeSync(lock);
    throw error;
  }
}

function openLock(folder: number, name: string, path: string): number {
  try {
    return openBeneath(folder, name, "append", 0o600);
  } catch (error) {
    const { code, message } = coded(error);
    fail(code, `cannot listen on ${quoted(path)}: its lock cannot be opened: ${message}`, {
      cause: error,
    });
  }
}

/** Removes the socket of an owner that is gone; whatever else has the name stays. */
function clearStale(bound: string, path: string): void {
  const facts = lstatSync(bound, { throwIfNoEntry: false });
  if (facts === undefined) return;
  if (!facts.isSocket()) {
    fail("EEXIST", `cannot listen on ${quoted(path)}: the name is taken by something else`, {
      hint: "move it away",
    });
  }
  if (facts.uid !== process.geteuid?.()) {
    fail("EACCES", `cannot listen on ${quoted(path)}: a socket of uid ${facts.uid} is there`);
  }
  // Who listens without the lock is another program; it is no less alive.
  const state = probeUnix(bound);
  if (state === "listening" || state === "full") {
    fail("busy", `cannot listen on ${quoted(path)}: another program listens there`);
  }
  unlinkSync(bound);
}
