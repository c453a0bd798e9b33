// Makes a folder for live state, or checks one that is there. Whoever can write into it, or swap it
// for another, can pose as ctxd; so owner, mode, kind and the folders above it are looked at each
// time, and nothing that looks wrong is repaired: it may be somebody's trap.

import { chmodSync, lstatSync, mkdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { CodedError, coded, fail } from "../abi/mod.ts";

/** Owner that the kernel shows for an uid outside of this user namespace, e.g. of `/` there. */
const overflowUid = 65534;
const stickyBit = 0o1000;

/**
 * Makes the missing parts of `path` with `mode`, or refuses with EACCES a last part that is a
 * symlink, is no folder, belongs to another uid or is open to more than `mode`; and folders above
 * it in which another user could put something in its place. A stricter mode is kept.
 */
export function ensureRuntimeFolder(path: string, mode: number): void {
  const target = resolve(path);
  try {
    makeMissing(target, mode);
    checkFolder(target, mode);
    checkAbove(dirname(target));
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { code, message } = coded(error);
    fail(code, `cannot make runtime folder "${target}": ${message}`, {
      hint: "set CTX_RUNTIME_DIR to a private folder of your own",
      cause: error,
    });
  }
}

function makeMissing(path: string, mode: number): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  makeMissing(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process of ours may have been faster; the checks look at what is there now.
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  // Past the umask. Only a folder made here is touched, and it is ours.
  chmodSync(path, mode);
}

function checkFolder(path: string, mode: number): void {
  const facts = lstatSync(path);
  const uid = process.geteuid?.() ?? 0;
  if (facts.isSymbolicLink()) refuse(path, "is a symlink", "remove it");
  if (!facts.isDirectory()) refuse(path, "is not a folder", "remove it");
  if (facts.uid !== uid) {
    refuse(path, `belongs to uid ${facts.uid}, not to ${uid}`, "set CTX_RUNTIME_DIR to your own");
  }
  const excess = facts.mode & 0o777 & ~mode;
  if (excess !== 0) {
    const octal = (facts.mode & 0o777).toString(8).padStart(4, "0");
    refuse(path, `has mode ${octal}`, `run chmod ${mode.toString(8).padStart(4, "0")} "${path}"`);
  }
}

function checkAbove(path: string): void {
  const uid = process.geteuid?.() ?? 0;
  let at = realpathSync(path);
  for (;;) {
    const facts = statSync(at);
    if (![0, uid, overflowUid].includes(facts.uid)) {
      refuse(at, `belongs to uid ${facts.uid}, who could replace what is in it`, "choose another");
    }
    if (openToOthers(facts)) {
      refuse(at, "is writable for others and has no sticky bit", "choose another");
    }
    if (basename(at) === "") return;
    at = join(at, "..");
  }
}

function openToOthers(facts: Stats): boolean {
  return (facts.mode & 0o002) !== 0 && (facts.mode & stickyBit) === 0;
}

function refuse(path: string, reason: string, hint: string): never {
  return fail("EACCES", `cannot use runtime folder "${path}": it ${reason}`, { hint });
}
