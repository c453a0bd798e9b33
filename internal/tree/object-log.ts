// The log of an object, `<object>.d/log`: one JSON object a line, for people who look after it. It is
// bounded, so the oldest half goes when it is full. Nothing is decided by it, so it is not synced, and
// an event that cannot be written is lost without a word.

import { closeSync, fchownSync, fstatSync } from "node:fs";
import { controlBytesMax } from "../abi/mod.ts";
import { openBeneath, readWhole, replaceFile, writeAll } from "../os/mod.ts";
import { inFolder } from "./beneath.ts";
import { controlAt } from "./control-file.ts";
import type { Tree } from "./open.ts";

/** Bytes of one log; it can be read as the control that it is. Past it the older half is dropped. */
export const objectLogBytesMax = controlBytesMax;

/** Bytes of one event's line. A longer one is not written. */
export const objectLogLineBytesMax = objectLogBytesMax / 4;

/** `relative` as "agent/coder.d/log"; the event gets its time. Never throws. */
export function appendObjectLog(tree: Tree, relative: string, event: object): void {
  const line = `${JSON.stringify({ ts: new Date().toISOString(), ...event })}\n`;
  const bytes = new TextEncoder().encode(line);
  if (bytes.length > objectLogLineBytesMax) return;
  try {
    const { name } = controlAt(relative);
    inFolder(tree.folder, relative, (folder) => append(folder, name, bytes));
  } catch {
    // The disk is full, or the object is gone; what was to be logged has happened all the same.
  }
}

function append(folder: number, name: string, line: Uint8Array): void {
  const fd = openBeneath(folder, name, "append", 0o644);
  try {
    const facts = fstatSync(fd);
    if (!facts.isFile()) return;
    const { uid, gid } = fstatSync(folder);
    if (facts.size === 0 && facts.uid !== uid) fchownSync(fd, uid, gid);
    if (facts.size + line.length <= objectLogBytesMax) {
      writeAll(fd, line);
      return;
    }
    const owner = { uid: facts.uid, gid: facts.gid };
    const mode = facts.mode & 0o777;
    const whole = facts.size > 2 * objectLogBytesMax ? new Uint8Array() : readWhole(fd, facts.size);
    const kept = newerHalf(whole);
    const content = new Uint8Array(kept.length + line.length);
    content.set(kept);
    content.set(line, kept.length);
    replaceFile(folder, name, content, { mode, owner, durable: false });
  } finally {
    closeSync(fd);
  }
}

/** Whole lines of at most half the bound. */
function newerHalf(bytes: Uint8Array): Uint8Array {
  const cut = Math.max(0, bytes.length - objectLogBytesMax / 2);
  const newline = bytes.indexOf(0x0a, Math.max(0, cut - 1));
  return newline < 0 ? new Uint8Array() : bytes.subarray(newline + 1);
}
