// Requests and answers of the capability socket as lines and back.

import { type Code, requestIdBytesMax } from "../abi/mod.ts";
import { fitsBytes, type JsonObject, member } from "../frame/mod.ts";
import type { CapabilityFrame, CapabilityRequest, Refusal, Reply, StreamFrame } from "./frames.ts";
import { canonicalControl, readControl } from "./judge.ts";
import { requestKinds } from "./shape.ts";

export interface Refused {
  readonly ok: false;
  readonly code: Code;
  /** JSON Pointer of what is wrong; "" is the whole line. */
  readonly path: string;
  readonly message: string;
  /**
   * The id that a refused request named, null when it named none that can be used. An attempt by a
   * peer that is let in consumes it even so.
   */
  readonly request_id: string | null;
}

export type DecodedRequest = { readonly ok: true; readonly request: CapabilityRequest } | Refused;

export type DecodedAnswer =
  | { readonly ok: true; readonly answer: Reply | Refusal | StreamFrame }
  | Refused;

/** For the host: a line without its LF. Never throws: a peer's mistake is a value. */
export function decodeCapabilityRequest(line: string): DecodedRequest {
  const read = readControl(line);
  if (!read.ok) return refused(read.refusal, read.given);
  if (requestKinds.some((kind) => kind === read.kind)) {
    return { ok: true, request: read.value as unknown as CapabilityRequest };
  }
  const wrong = {
    code: "EINVAL",
    path: "/op",
    message: "line is an answer, not a request",
  } as const;
  return refused(wrong, read.value);
}

/** For a program in the sandbox: a line without its LF. */
export function decodeCapabilityAnswer(line: string): DecodedAnswer {
  const read = readControl(line);
  if (!read.ok) return refused(read.refusal, read.given);
  if (!requestKinds.some((kind) => kind === read.kind)) {
    return { ok: true, answer: read.value as unknown as Reply | Refusal | StreamFrame };
  }
  const wrong = {
    code: "EINVAL",
    path: "/ok",
    message: "line is a request, not an answer",
  } as const;
  return refused(wrong, read.value);
}

/** One line with its LF, members in canonical order. Throws when no peer would accept it. */
export function encodeCapability(frame: CapabilityFrame): string {
  return canonicalControl(JSON.stringify(frame));
}

function refused(
  wrong: { readonly code: Code; readonly path: string; readonly message: string },
  given: JsonObject | undefined,
): Refused {
  const { code, path, message } = wrong;
  const id = given === undefined ? undefined : member(given, "request_id");
  return { ok: false, code, path, message, request_id: usableId(id) };
}

/** Null for what no request can be answered by. */
export function usableId(id: unknown): string | null {
  if (typeof id !== "string" || id === "" || id.includes("\0")) return null;
  return id.isWellFormed() && fitsBytes(id, requestIdBytesMax) ? id : null;
}
