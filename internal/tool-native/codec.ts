// The input of a native call as a line.

import { fail } from "../abi/mod.ts";
import { readInputLine } from "./judge.ts";

/**
 * All bytes of a tool's stdin: one JSON object and LF. Throws EMSGSIZE when they are too many, EINVAL
 * when it is no object that any program can read.
 */
export function encodeToolInput(args: unknown): string {
  const line = JSON.stringify(args) ?? "";
  const read = readInputLine(line);
  return read.ok ? `${line}\n` : fail(read.code, `the input cannot be sent: ${read.message}`);
}
