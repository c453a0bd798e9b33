// Says of one line of the native protocol of tools whether it is an input or a result, and what is wrong
// with it. A result has `type` "result". On the wire the direction tells them apart; of a line alone an
// input that has such a member is taken for a result.

import { fail, isCode, type Judgement, quoted, toolOutputBytesMax } from "../abi/mod.ts";
import {
  type JsonObject,
  type LineRefusal,
  member,
  readJsonLine,
  refusal,
  valueFault,
} from "../frame/mod.ts";

/** One line of either side, LF included: all that is kept of an output. Past it EMSGSIZE. */
export const toolLineBytesMax = toolOutputBytesMax;

export type Read<T> = { readonly ok: true; readonly value: T } | LineRefusal;

export interface ResultLine {
  readonly type: "result";
  readonly status: "ok" | "error";
  readonly content: unknown;
  /** One of the table; a code that is not known says nothing. */
  readonly code?: string;
}

/** A line without its LF. */
export function readInputLine(line: string): Read<JsonObject> {
  const parsed = readJsonLine(line, toolLineBytesMax);
  return parsed.ok ? (inputFault(parsed.value) ?? parsed) : parsed;
}

/** A line without its LF. The value has the known members alone, in canonical order. */
export function readResultLine(line: string): Read<ResultLine> {
  const parsed = readJsonLine(line, toolLineBytesMax);
  return parsed.ok ? resultOf(parsed.value) : parsed;
}

export function judgeToolNative(line: string): Judgement {
  const read = readLine(line);
  return read.ok ? { ok: true, kind: read.kind } : read;
}

/** Decodes and encodes a line; the answer ends in LF. Throws what the judge would say. */
export function canonicalToolNative(line: string): string {
  const read = readLine(line);
  return read.ok ? `${JSON.stringify(read.value)}\n` : fail(read.code, read.message);
}

function readLine(
  line: string,
): { readonly ok: true; readonly kind: string; readonly value: object } | LineRefusal {
  const parsed = readJsonLine(line, toolLineBytesMax);
  if (!parsed.ok) return parsed;
  if (member(parsed.value, "type") === "result") {
    const result = resultOf(parsed.value);
    return result.ok ? { ...result, kind: "result" } : result;
  }
  return inputFault(parsed.value) ?? { ...parsed, kind: "input" };
}

/** The object is what a call has as `args`, and is bounded as it is there. */
function inputFault(value: JsonObject): LineRefusal | undefined {
  const wrong = valueFault({ args: value });
  return wrong && { ...wrong, path: wrong.path.slice("/args".length) };
}

function resultOf(value: JsonObject): Read<ResultLine> {
  const type = member(value, "type");
  if (type !== "result") return refusal("schema", "/type", `field "type" is not "result"`);
  const status = member(value, "status");
  if (status !== "ok" && status !== "error") {
    const what = typeof status === "string" ? quoted(status) : "no text";
    return refusal("schema", "/status", `field "status" is ${what}, not "ok" or "error"`);
  }
  if (!Object.hasOwn(value, "content")) {
    return refusal("schema", "/content", `field "content" is missing`);
  }
  const content = member(value, "content");
  const code = member(value, "code");
  const known = typeof code === "string" && isCode(code) ? { code } : {};
  const result = { type, status, content, ...known } as const;
  return valueFault(result) ?? { ok: true, value: result };
}
