// Says of one line whether it is an invocation or a frame that a step may print, and what is wrong
// with it. A line describes itself: an invocation has `schema`, a frame has `type`.

import { fail, type Judgement, quoted } from "../abi/mod.ts";
import {
  type JsonObject,
  type LineRefusal,
  member,
  readJsonLine,
  refusal,
  shapeRefusal,
} from "../frame/mod.ts";
import { envelopeLineBytesMax } from "./bounds.ts";
import { ruleFault } from "./rules.ts";
import { type EnvelopeKind, envelopeKinds, shapeOf } from "./shape.ts";

type Read =
  | { readonly ok: true; readonly kind: EnvelopeKind; readonly value: JsonObject }
  | LineRefusal;

/** A line without its LF. The value has its members in canonical order. */
export function readEnvelope(line: string): Read {
  const parsed = readJsonLine(line, envelopeLineBytesMax);
  if (!parsed.ok) return parsed;
  const kind = kindOf(parsed.value);
  if (typeof kind !== "string") return kind;
  if (kind === "invocation" && !(line.startsWith("{") && line.endsWith("}"))) {
    const message = "invocation has bytes beside its one JSON object";
    return { ok: false, code: "EINVAL", path: "", message, by: "line" };
  }
  const shaped = shapeOf(kind)(parsed.value);
  if (!shaped.success) return shapeRefusal(parsed.value, shaped.error.issues);
  return ruleFault(kind, shaped.data) ?? { ok: true, kind, value: shaped.data };
}

export function judgeEnvelope(line: string): Judgement {
  const read = readEnvelope(line);
  return read.ok ? { ok: true, kind: read.kind } : read;
}

/** Decodes and encodes a line; the answer ends in LF. Throws what the judge would say. */
export function canonicalEnvelope(line: string): string {
  const read = readEnvelope(line);
  return read.ok ? `${JSON.stringify(read.value)}\n` : fail(read.code, read.message);
}

/** Frames of a run that an agent may try to forge: only the host writes them. */
const hostFrames: ReadonlySet<string> = new Set([
  "start",
  "done",
  "tool_result",
  "tool_delta",
  "approval_request",
  "error",
  "status",
  "pong",
]);

function kindOf(value: JsonObject): EnvelopeKind | LineRefusal {
  if (Object.hasOwn(value, "schema")) return "invocation";
  if (!Object.hasOwn(value, "type")) return refusal("schema", "/type", `field "type" is missing`);
  const type = member(value, "type");
  if (typeof type !== "string") return refusal("schema", "/type", `field "type" is not a string`);
  const kind = envelopeKinds.find((one) => one === type && one !== "invocation");
  if (kind !== undefined) return kind;
  if (hostFrames.has(type)) {
    return refusal("schema", "/type", `a step may not print ${quoted(type)}, only the host does`);
  }
  return refusal("schema", "/type", `frame ${quoted(type)} is not known`);
}
