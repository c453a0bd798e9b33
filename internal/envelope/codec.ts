// Invocations and frames as lines and back. Encoding goes through the same judge as decoding, so
// that the host cannot send what it would refuse.

import { type Code, fail } from "../abi/mod.ts";
import type { Invocation, StepFrame } from "./frames.ts";
import { canonicalEnvelope, readEnvelope } from "./judge.ts";

export type DecodedInvocation =
  | { readonly ok: true; readonly invocation: Invocation }
  | { readonly ok: false; readonly code: Code; readonly path: string; readonly message: string };

export type DecodedStepFrame =
  | { readonly ok: true; readonly frame: StepFrame }
  | { readonly ok: false; readonly code: Code; readonly path: string; readonly message: string };

/**
 * The exact bytes of a step's stdin: one JSON object and LF. Throws EMSGSIZE when a text or the
 * whole is past its bound, EINVAL when the invocation is none.
 */
export function encodeInvocation(invocation: Invocation): string {
  const decoded = decodeInvocationLine(JSON.stringify(invocation));
  if (!decoded.ok) return fail(decoded.code, `invocation cannot be sent: ${decoded.message}`);
  return `${JSON.stringify(decoded.invocation)}\n`;
}

/** A line without its LF. */
export function decodeInvocationLine(line: string): DecodedInvocation {
  const read = readEnvelope(line);
  if (!read.ok) return read;
  if (read.kind === "invocation") {
    return { ok: true, invocation: read.value as unknown as Invocation };
  }
  const message = `line is a "${read.kind}" frame and no invocation`;
  return { ok: false, code: "EINVAL", path: "/schema", message };
}

/** The line of a frame, with its LF. Throws when no step may print it. */
export function encodeStepFrame(frame: StepFrame): string {
  return canonicalEnvelope(JSON.stringify(frame));
}

/** A line without its LF. */
export function decodeStepFrame(line: string): DecodedStepFrame {
  const read = readEnvelope(line);
  if (!read.ok) return read;
  if (read.kind !== "invocation") return { ok: true, frame: read.value as unknown as StepFrame };
  return {
    ok: false,
    code: "EINVAL",
    path: "/type",
    message: "a step may not print an invocation",
  };
}
