// From one line of an agent socket to a request. Unknown and repeated fields are ignored, as the
// wire promises; what is known is checked completely, so nothing behind this file checks again.

import { type Code, CodedError, fail, quoted } from "../abi/mod.ts";
import {
  type Fields,
  field,
  readCursor,
  readDecision,
  readIdentifier,
  readInput,
  readOptionalIdentifier,
  readOptionalWords,
  readPath,
  readReason,
  readScope,
  readSession,
  readWords,
} from "./fields.ts";
import type { OpRequest } from "./op.ts";

export type DecodedOp =
  | { readonly ok: true; readonly request: OpRequest }
  | {
      readonly ok: false;
      readonly code: Code;
      readonly message: string;
      /** The request's id when the line had a usable one, so that the error can name it. */
      readonly id: string | undefined;
    };

/** Ops that the protocol has and this version does not serve. */
const laterOps: readonly string[] = ["read"];

/** Decodes one line without its LF. Never throws: a peer's mistake is a value. */
export function decodeOpLine(line: string): DecodedOp {
  let fields: Fields | undefined;
  try {
    fields = parseFields(line);
    return { ok: true, request: decodeFields(fields) };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const id = fields === undefined ? undefined : usableId(fields);
    return { ok: false, code: error.code, message: error.message, id };
  }
}

function parseFields(line: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return fail("EINVAL", "request is not valid JSON");
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  return fail("EINVAL", "request is not a JSON object");
}

function decodeFields(fields: Fields): OpRequest {
  const op = field(fields, "op");
  const abi = field(fields, "abi");
  if (op === undefined && typeof abi === "string") {
    return fail("unsupported_version", `abi ${quoted(abi)} is not served on this socket`);
  }
  if (op === undefined) return fail("EINVAL", `field "op" is missing`);
  if (typeof op !== "string") return fail("EINVAL", `field "op" is not a string`);
  switch (op) {
    case "send":
      return {
        op,
        id: readIdentifier(fields, "id"),
        session: readSession(fields),
        scope: readScope(fields),
        input: readInput(fields),
        cwd: readPath(fields, "cwd"),
        workspace: readPath(fields, "workspace"),
      };
    case "tsh":
      return {
        op,
        id: readIdentifier(fields, "id"),
        session: readSession(fields),
        scope: { kind: "private" },
        args: readWords(fields, "args"),
      };
    case "resume": {
      const session = readSession(fields);
      return { op, session, scope: readScope(fields), after: readCursor(fields, "after") };
    }
    case "status":
      return { op, session: readSession(fields), scope: readScope(fields) };
    case "cancel":
      return { op, id: readIdentifier(fields, "id") };
    case "approve":
      return {
        op,
        run: readIdentifier(fields, "run"),
        id: readIdentifier(fields, "id"),
        decision: readDecision(fields),
        reason: readReason(fields),
        digest: readOptionalIdentifier(fields, "digest"),
      };
    case "start":
      return {
        op,
        id: readIdentifier(fields, "id"),
        session: readSession(fields),
        cwd: readPath(fields, "cwd"),
        mounts: readOptionalWords(fields, "mounts") ?? [],
        command: readOptionalWords(fields, "command"),
      };
    case "stop":
      return { op, id: readIdentifier(fields, "id"), session: readSession(fields) };
    case "ps":
    case "ping":
      return { op };
    default:
      if (laterOps.includes(op)) return fail("EINVAL", `op "${op}" is not served by this version`);
      return fail("EINVAL", `op ${quoted(op)} is not known`);
  }
}

function usableId(fields: Fields): string | undefined {
  try {
    return readIdentifier(fields, "id");
  } catch {
    return undefined;
  }
}
