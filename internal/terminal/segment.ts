// Reads a segment of a terminal's log backwards to its last whole record, and counts what is in it.

import { fstatSync, readSync } from "node:fs";
import { parseRecord } from "../terminal-wire/mod.ts";

/** Bytes that are read at a time. */
const blockBytes = 1024 * 1024;

const newline = 0x0a;

/** Bytes up to the end of the last whole record, and its number; 0 and 0 when there is none. */
export function lastRecord(fd: number): { bytes: number; seq: number } {
  let end = fstatSync(fd).size;
  while (end > 0) {
    const stop = newlineBefore(fd, end);
    if (stop < 0) break;
    const from = newlineBefore(fd, stop) + 1;
    const line = new Uint8Array(stop - from);
    readSync(fd, line, 0, line.length, from);
    const seq = numberOf(line);
    if (seq > 0) return { bytes: stop + 1, seq };
    // A damaged line: it goes, and the one before it is looked at.
    end = from;
  }
  return { bytes: 0, seq: 0 };
}

/** Position of the last newline before `end`; -1 when there is none. */
function newlineBefore(fd: number, end: number): number {
  const block = new Uint8Array(Math.min(blockBytes, end));
  for (let at = end; at > 0; ) {
    const size = Math.min(block.length, at);
    at -= size;
    readSync(fd, block, 0, size, at);
    const found = block.subarray(0, size).lastIndexOf(newline);
    if (found >= 0) return at + found;
  }
  return -1;
}

function numberOf(line: Uint8Array): number {
  try {
    const value = JSON.parse(new TextDecoder().decode(line)) as { seq?: unknown } | null;
    const seq = value?.seq;
    return Number.isSafeInteger(seq) && (seq as number) > 0 ? (seq as number) : 0;
  } catch {
    return 0;
  }
}

/** Bytes of terminal output in a segment. */
export function outputBytesOf(fd: number): number {
  const block = new Uint8Array(blockBytes);
  const decoder = new TextDecoder();
  let rest = "";
  let bytes = 0;
  for (let at = 0; ; ) {
    const count = readSync(fd, block, 0, block.length, at);
    if (count === 0) return bytes;
    at += count;
    const lines = (rest + decoder.decode(block.subarray(0, count), { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) bytes += outputBytesIn(line);
  }
}

function outputBytesIn(line: string): number {
  const result = parseRecord(line);
  if (!result.ok || result.record.type !== "pty.output") return 0;
  const { data } = result.record;
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return (data.length / 4) * 3 - padding;
}
