// Reads a range of an open file line by line in bounded memory. A line that does not end, is too
// long, is not UTF-8 or not one JSON object is a fault that knows its byte offset and line number.

import { readSync } from "node:fs";
import { CodedError } from "../abi/mod.ts";
import { recordBytesMax } from "./bounds.ts";

const lineFeed = 10;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export interface JsonLine {
  readonly value: Readonly<Record<string, unknown>>;
  readonly offset: number;
  /** Bytes of the line with its LF. */
  readonly bytes: number;
  readonly number: number;
}

export class JsonLines {
  readonly #fd: number;
  readonly #file: string;
  readonly #end: number;
  readonly #chunk: number;
  #buffer: Uint8Array = new Uint8Array(0);
  /** Offset in the file of the first byte of the buffer that is not consumed. */
  #offset: number;
  #number = 0;

  /** `file` is the name that a fault tells; bytes from `offset` up to `end` are read. */
  constructor(fd: number, file: string, offset: number, end: number, chunk: number) {
    this.#fd = fd;
    this.#file = file;
    this.#offset = offset;
    this.#end = end;
    this.#chunk = chunk;
  }

  get offset(): number {
    return this.#offset;
  }

  /** The next line, or undefined at the end. Throws EIO at a fault. */
  next(): JsonLine | undefined {
    let at = this.#buffer.indexOf(lineFeed);
    while (at < 0) {
      const before = this.#buffer.length;
      if (before > recordBytesMax) throw this.fault("the line is longer than a record may be");
      if (!this.#fill()) {
        if (before === 0) return undefined;
        throw this.fault("the last line is incomplete");
      }
      at = this.#buffer.indexOf(lineFeed, before);
    }
    if (at >= recordBytesMax) throw this.fault("the line is longer than a record may be");
    const value = this.#parse(this.#buffer.subarray(0, at));
    const line = { value, offset: this.#offset, bytes: at + 1, number: this.#number + 1 };
    this.#buffer = this.#buffer.subarray(at + 1);
    this.#offset += at + 1;
    this.#number += 1;
    return line;
  }

  /** A fault at the line that `next` would give, or at `line`. */
  fault(reason: string, line?: JsonLine): CodedError {
    const offset = line?.offset ?? this.#offset;
    const number = line?.number ?? this.#number + 1;
    return new CodedError(
      "EIO",
      `"${this.#file}" is damaged at byte ${offset}, line ${number}: ${reason}`,
      {
        place: { file: this.#file, line: number, column: 1 },
        hint: "nothing was changed; the session stays closed until its tail is repaired",
      },
    );
  }

  #fill(): boolean {
    const from = this.#offset + this.#buffer.length;
    const want = Math.min(Math.max(this.#chunk, this.#buffer.length), this.#end - from);
    if (want <= 0) return false;
    const joined = new Uint8Array(this.#buffer.length + want);
    joined.set(this.#buffer);
    const count = readSync(this.#fd, joined, this.#buffer.length, want, from);
    if (count === 0) return false;
    this.#buffer = joined.subarray(0, this.#buffer.length + count);
    return true;
  }

  #parse(bytes: Uint8Array): Record<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(decoder.decode(bytes));
    } catch {
      throw this.fault("the line is not JSON");
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw this.fault("the line is not a JSON object");
    }
    return value as Record<string, unknown>;
  }
}

/**
 * The length of the file's whole lines: up to and with its last LF, which is looked for in the last
 * `tailBytes`. No line end in so long a tail is damage, not a cut line: then it is the whole size,
 * and the reader names the damage.
 */
export function wholeLines(fd: number, size: number, tailBytes: number): number {
  if (size === 0 || readTail(fd, size - 1, size)[0] === lineFeed) return size;
  const start = Math.max(0, size - tailBytes);
  const last = readTail(fd, start, size).lastIndexOf(lineFeed);
  return last < 0 && start > 0 ? size : start + last + 1;
}

export function readTail(fd: number, start: number, end: number): Uint8Array {
  const tail = new Uint8Array(end - start);
  let filled = 0;
  while (filled < tail.length) {
    const count = readSync(fd, tail, filled, tail.length - filled, start + filled);
    if (count === 0) break;
    filled += count;
  }
  return tail.subarray(0, filled);
}
