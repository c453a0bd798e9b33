// fs.read: a text file or a part of it, by bytes or by lines. What is left out is always said.

import { closeSync } from "node:fs";
import { fail, observationBytesMax } from "../abi/mod.ts";
import {
  absolute,
  decodeText,
  fileBytesMax,
  naming,
  openRegular,
  readRange,
  readText,
} from "./files.ts";
import { type Audience, type BuiltinResult, type Input, ok } from "./result.ts";

/**
 * Bytes given to a model that names no limit: what fits its observation with room for the note.
 * More would be cut by the host, which cannot say how to go on.
 */
const nativeReadBytes = observationBytesMax - 512;

export function read(input: Input, cwd: string, audience: Audience): BuiltinResult {
  const shown = input.path();
  const byLines = input.has("line_start") || input.has("line_end");
  if (byLines && (input.has("offset") || input.has("limit"))) {
    fail("EINVAL", "fs.read takes a range of bytes or of lines, not both");
  }
  const path = absolute(cwd, shown);
  const usual = audience === "native" ? nativeReadBytes : fileBytesMax;
  const offset = input.whole("offset", 0) ?? 0;
  const limit = Math.min(input.whole("limit", 1) ?? usual, fileBytesMax);
  const first = input.whole("line_start", 1) ?? 1;
  const last = input.whole("line_end", 1);
  if (last !== undefined && last < first) fail("EINVAL", "fs.read: line_end is before line_start");
  const [fd, facts] = openRegular("read", path, shown);
  try {
    return naming("read", shown, () =>
      byLines
        ? readLines(fd, shown, first, last, usual)
        : readBytes(fd, shown, facts.size, offset, limit),
    );
  } finally {
    closeSync(fd);
  }
}

function readBytes(fd: number, shown: string, size: number, offset: number, limit: number) {
  // Three bytes more than asked for: enough to see whether a character is cut at the end.
  const bytes = readRange(fd, offset, limit + 3);
  const total = Math.max(size, offset + bytes.length);
  const from = characterStart(bytes, 0);
  const end = bytes.length <= limit ? bytes.length : characterEnd(bytes, limit);
  const text = decodeText("read", bytes.subarray(from, end), shown);
  if (offset === 0 && end === total) return ok(text);
  const rest = end + offset < total ? `; continue with offset ${offset + end}` : "";
  return ok(text, `[bytes ${offset + from}-${offset + end} of ${total}${rest}]`);
}

/** The first index from `at` on where a character starts. */
function characterStart(bytes: Uint8Array, at: number): number {
  let index = at;
  while (index < bytes.length && index < at + 3 && isContinuation(bytes[index])) index++;
  return index;
}

/** The last index up to `at` where a character starts; `at` itself when nothing is cut there. */
function characterEnd(bytes: Uint8Array, at: number): number {
  let index = at;
  while (index > 0 && index > at - 3 && isContinuation(bytes[index])) index--;
  // A limit below one character would make no progress: then that character is given whole.
  return index === 0 ? characterStart(bytes, 1) : index;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function readLines(
  fd: number,
  shown: string,
  first: number,
  last: number | undefined,
  bytesMax: number,
): BuiltinResult {
  const lines = readText("read", fd, shown).split("\n");
  // The piece after a final newline is not a line.
  if (lines.at(-1) === "") lines.pop();
  if (first > lines.length && lines.length > 0) {
    fail("EINVAL", `cannot read ${JSON.stringify(shown)}: it has only ${lines.length} lines`);
  }
  const asked = lines.slice(first - 1, last);
  const given: string[] = [];
  let bytes = 0;
  for (const line of asked) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > bytesMax && given.length > 0) break;
    given.push(line);
  }
  const end = first - 1 + given.length;
  const text = given.map((line) => `${line}\n`).join("");
  if (first === 1 && end === lines.length) return ok(text);
  const rest = given.length < asked.length ? `; continue with line_start ${end + 1}` : "";
  return ok(text, `[lines ${first}-${end} of ${lines.length}${rest}]`);
}
