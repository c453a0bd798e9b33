// Reads a segment of a terminal's log backwards to its last whole record, and counts what is in it.

import { fstatSync, readSync } from "node:fs";
import { parseRecord } from "../terminal-wire/mod.ts";

/** Bytes that are read at a time. */
const blockBytes = 1024 * 1024;

const newline = 0x0a;

/** A record is far shorter. What is longer between two newlines is none. */
const recordBytesMax = 4 * blockBytes;

/** Bytes up to the end of the last whole record, and its number; 0 and 0 when there is none. */
export function lastRecord(fd: number): { bytes: number; seq: number } {
  const file = new Backwards(fd);
  let end = file.newlineBefore(fstatSync(fd).size);
  while (end >= 0) {
    const before = file.newlineBefore(end);
    const seq = numberOf(fd, before + 1, end);
    if (seq > 0) return { bytes: end + 1, seq };
    // A damaged line: it goes, and the one before it is looked at.
    end = before;
  }
  return { bytes: 0, seq: 0 };
}

/** Looks for newlines from the end on; each block is read once, however many are in it. */
class Backwards {
  readonly #fd: number;
  readonly #block = new Uint8Array(blockBytes);
  #from = 0;
  #length = 0;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Position of the last newline before `end`; -1 when there is none. */
  newlineBefore(end: number): number {
    for (let at = end; at > 0; at = this.#from) {
      if (at <= this.#from || at > this.#from + this.#length) this.#read(at);
      const found = this.#block.subarray(0, at - this.#from).lastIndexOf(newline);
      if (found >= 0) return this.#from + found;
    }
    return -1;
  }

  /** What is in front of `end`. */
  #read(end: number): void {
    this.#length = Math.min(blockBytes, end);
    this.#from = end - this.#length;
    readSync(this.#fd, this.#block, 0, this.#length, this.#from);
  }
}

function numberOf(fd: number, from: number, end: number): number {
  if (end === from || end - from > recordBytesMax) return 0;
  const line = new Uint8Array(end - from);
  readSync(fd, line, 0, line.length, from);
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
