// The input of a tool that is executed: one JSON object on standard input in native mode, a JSON
// object or words in terminal mode.

import { readSync } from "node:fs";
import { coded, fail } from "../../internal/abi/mod.ts";

/** Bytes of a native call's input line. Past it EMSGSIZE. Twice a file, for JSON's escapes. */
export const toolInputBytesMax = 16 * 1024 * 1024;

/** Pause between two looks at an empty pipe that somebody made non-blocking, in milliseconds. */
const emptyPipePauseMs = 5;

const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/** The next bytes of standard input, 0 at its end. */
function readSome(buffer: Uint8Array, offset: number): number {
  for (;;) {
    try {
      return readSync(0, buffer, offset, buffer.length - offset, null);
    } catch (error) {
      const errno = (error as { code?: string }).code;
      if (errno === "EAGAIN") {
        Atomics.wait(pauseCell, 0, 0, emptyPipePauseMs);
        continue;
      }
      const { code, message } = coded(error);
      const reason = errno === "EISDIR" ? "it is a folder" : message.replace(/, read$/, "");
      return fail(code, `cannot read standard input: ${reason}`, { cause: error });
    }
  }
}

/** Everything on standard input up to its end, as text. Throws EMSGSIZE and EINVAL. */
export function readInput(bytesMax: number): string {
  let buffer = new Uint8Array(64 * 1024);
  let length = 0;
  for (;;) {
    const count = readSome(buffer, length);
    if (count === 0) break;
    length += count;
    if (length > bytesMax) fail("EMSGSIZE", `the input is larger than ${bytesMax} bytes`);
    if (length === buffer.length) {
      const larger = new Uint8Array(buffer.length * 2);
      larger.set(buffer);
      buffer = larger;
    }
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(buffer.subarray(0, length));
  } catch {
    return fail("EINVAL", "the input is not UTF-8 text");
  }
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return fail("EINVAL", `the input is not JSON: ${(error as Error).message}`, {
      hint: 'in a shell, a JSON object stands in single quotes: \'{"path":"."}\'',
    });
  }
}

/** Fields that hold numbers or switches when they are given as words. */
const numeric: readonly string[] = ["line_start", "line_end", "offset", "limit", "depth", "count"];

/** Input of a terminal user: one JSON object, or the fields in order. */
export function wordsToInput(
  tool: string,
  words: readonly string[],
  fields: readonly string[],
): unknown {
  const [first] = words;
  if (words.length === 1 && first?.startsWith("{")) return parseJson(first);
  if (words.length > fields.length) {
    fail("EINVAL", `${tool} takes at most ${fields.length} words: ${fields.join(" ")}`);
  }
  const input: Record<string, unknown> = {};
  for (const [index, word] of words.entries()) {
    const field = fields[index] as string;
    if (numeric.includes(field)) input[field] = wholeNumber(tool, field, word);
    else if (field === "create_dirs") input[field] = word === "true" || word === "1";
    else input[field] = word;
  }
  return input;
}

function wholeNumber(tool: string, field: string, word: string): number {
  if (/^[0-9]{1,15}$/.test(word)) return Number(word);
  return fail("EINVAL", `${tool} needs a whole number for ${field}, not ${JSON.stringify(word)}`);
}
