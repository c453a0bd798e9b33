// The fields of an op request, one reader each. A reader gets what JSON had there and gives back a
// value or throws the coded error that the peer is told. Readers quote what they refuse in short.

import {
  approvalReasonBytesMax,
  fail,
  frameEnvelopeBytesMax,
  inputBytesMax,
  objectName,
  opLineBytesMax,
  quoted,
  requestIdBytesMax,
  sessionName,
} from "../abi/mod.ts";
import type { Scope } from "./op.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Bytes of a path in a request, PATH_MAX without the closing NUL. Past it EINVAL. */
export const requestPathBytesMax = 4095;

const byteLength = (text: string) => new TextEncoder().encode(text).length;

/** The value of a field of the request itself; JSON null counts as absent. */
export function field(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
}

function text(fields: Fields, name: string): string | undefined {
  const value = field(fields, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") return fail("EINVAL", `field "${name}" is not a string`);
  // A lone surrogate has no UTF-8, so it could be neither written down nor compared byte by byte.
  if (!value.isWellFormed()) return fail("EINVAL", `field "${name}" is not valid Unicode`);
  return value;
}

function required(fields: Fields, name: string): string {
  return text(fields, name) ?? fail("EINVAL", `field "${name}" is missing`);
}

function checkIdentifier(name: string, value: string): string {
  const bytes = byteLength(value);
  if (bytes < 1 || bytes > requestIdBytesMax) {
    const reason = `it has ${bytes} bytes, 1 to ${requestIdBytesMax} are allowed`;
    return fail("EINVAL", `field "${name}" ${quoted(value)} is not an identifier: ${reason}`);
  }
  if (value.includes("\0")) return fail("EINVAL", `field "${name}" holds a NUL character`);
  return value;
}

export function readIdentifier(fields: Fields, name: string): string {
  return checkIdentifier(name, required(fields, name));
}

export function readOptionalIdentifier(fields: Fields, name: string): string | undefined {
  const value = text(fields, name);
  return value === undefined ? undefined : checkIdentifier(name, value);
}

export function readDecision(fields: Fields): "allow_once" | "deny" {
  const decision = required(fields, "decision");
  if (decision === "allow_once" || decision === "deny") return decision;
  return fail("EINVAL", `decision ${quoted(decision)} is not one of allow_once, deny`);
}

/** Why a call is denied. EMSGSIZE past `approvalReasonBytesMax`. */
export function readReason(fields: Fields): string | undefined {
  const reason = text(fields, "reason");
  const bytes = reason === undefined ? 0 : byteLength(reason);
  if (bytes <= approvalReasonBytesMax) return reason;
  return fail("EMSGSIZE", `reason has ${bytes} bytes, at most ${approvalReasonBytesMax} are taken`);
}

/** An exclusive cursor: the id of an earlier frame, or its `seq` as a number or as text. */
export function readCursor(fields: Fields, name: string): string | undefined {
  const value = field(fields, name);
  if (typeof value === "number") {
    if (Number.isSafeInteger(value) && value >= 0) return String(value);
    return fail("EINVAL", `field "${name}" is neither an id nor a sequence number`);
  }
  const cursor = text(fields, name);
  return cursor === undefined ? undefined : checkIdentifier(name, cursor);
}

export function readSession(fields: Fields): string {
  return sessionName(text(fields, "session") ?? "default");
}

/** `scope` with its space. A space without the scope is refused: guessing would pick a place. */
export function readScope(fields: Fields): Scope {
  const kind = text(fields, "scope") ?? "private";
  const space = text(fields, "shared");
  if (kind === "shared") {
    if (space === undefined) return fail("EINVAL", `scope "shared" needs the field "shared"`);
    return { kind, space: objectName("shared space", space) };
  }
  if (kind !== "private" && kind !== "temp") {
    return fail("EINVAL", `scope ${quoted(kind)} is not one of private, shared, temp`);
  }
  if (space !== undefined) {
    return fail("EINVAL", `field "shared" needs scope "shared", the scope is "${kind}"`);
  }
  return { kind };
}

/** The text of a send. EMSGSIZE past `inputBytesMax`. */
export function readInput(fields: Fields): string {
  const input = required(fields, "input");
  // A UTF-16 unit is at most 3 bytes, so most inputs need no count.
  const bytes = input.length * 3 > inputBytesMax ? byteLength(input) : 0;
  if (bytes <= inputBytesMax && fitsFrame(input)) return input;
  if (bytes <= inputBytesMax)
    return fail("EMSGSIZE", "input does not fit a frame once it is escaped");
  return fail("EMSGSIZE", `input has ${bytes} bytes, at most ${inputBytesMax} are taken`);
}

export function readOptionalWords(fields: Fields, name: string): readonly string[] | undefined {
  return field(fields, name) === undefined ? undefined : readWords(fields, name);
}

/** A list of texts, which may be empty: what they mean is not said here. */
export function readWords(fields: Fields, name: string): readonly string[] {
  const words = field(fields, name);
  if (words === undefined) return fail("EINVAL", `field "${name}" is missing`);
  if (!Array.isArray(words)) return fail("EINVAL", `field "${name}" is not a list`);
  const odd = words.findIndex((word) => typeof word !== "string");
  return odd < 0 ? words : fail("EINVAL", `field "${name}" at ${odd} is not a string`);
}

/** An absolute canonical path without control characters. Whether it exists is asked later. */
export function readPath(fields: Fields, name: string): string | undefined {
  const path = text(fields, name);
  if (path === undefined) return undefined;
  if (!path.startsWith("/")) return fail("EINVAL", `${name} ${quoted(path)} is not absolute`);
  if (
    path !== "/" &&
    path
      .split("/")
      .slice(1)
      .some((part) => /^\.{0,2}$/.test(part))
  ) {
    return fail("EINVAL", `${name} ${quoted(path)} is not canonical`);
  }
  if (/[\0-\x1f\x7f]/.test(path)) {
    return fail("EINVAL", `${name} ${quoted(path)} holds a control character`);
  }
  if (byteLength(path) > requestPathBytesMax) {
    return fail("EINVAL", `${name} is longer than ${requestPathBytesMax} bytes`);
  }
  return path;
}

/** Whether the message that repeats this text to clients stays within the line it came in. */
function fitsFrame(text: string): boolean {
  const bytesMax = opLineBytesMax - frameEnvelopeBytesMax;
  return text.length * 6 + 2 <= bytesMax || byteLength(JSON.stringify(text)) <= bytesMax;
}
