// Says of one line of the capability socket what it is and what is wrong with it. A line describes
// itself: a request has `op`, a reply has `ok`, a frame of a model's answer has `type`.

import { fail, type Judgement, quoted } from "../abi/mod.ts";
import {
  type JsonObject,
  type LineRefusal,
  member,
  readJsonLine,
  refusal,
  shapeRefusal,
} from "../frame/mod.ts";
import { capabilityLineBytesMax } from "./bounds.ts";
import { ruleFault } from "./rules.ts";
import { type CapabilityKind, requestKinds, shapeOf, streamKinds } from "./shape.ts";

export type ReadControl =
  | { readonly ok: true; readonly kind: CapabilityKind; readonly value: JsonObject }
  /** `given` is what JSON had there, when it was an object. */
  | { readonly ok: false; readonly refusal: LineRefusal; readonly given?: JsonObject };

/** A line without its LF. The value has the known members alone, in canonical order. */
export function readControl(line: string): ReadControl {
  const parsed = readJsonLine(line, capabilityLineBytesMax);
  if (!parsed.ok) return { ok: false, refusal: parsed };
  const given = parsed.value;
  const kind = kindOf(given);
  if (typeof kind !== "string") return { ok: false, refusal: kind, given };
  const shaped = shapeOf(kind)(given);
  if (!shaped.success) {
    return { ok: false, refusal: shapeRefusal(given, shaped.error.issues), given };
  }
  const wrong = ruleFault(kind, shaped.data);
  return wrong === undefined
    ? { ok: true, kind, value: shaped.data }
    : { ok: false, refusal: wrong, given };
}

export function judgeControl(line: string): Judgement {
  const read = readControl(line);
  return read.ok ? { ok: true, kind: read.kind } : read.refusal;
}

/** Decodes and encodes a line; the answer ends in LF. Throws what the judge would say. */
export function canonicalControl(line: string): string {
  const read = readControl(line);
  if (read.ok) return `${JSON.stringify(read.value)}\n`;
  return fail(read.refusal.code, read.refusal.message);
}

function kindOf(value: JsonObject): CapabilityKind | LineRefusal {
  if (Object.hasOwn(value, "op")) {
    const op = member(value, "op");
    const kind = requestKinds.find((one) => one === op);
    if (kind !== undefined) return kind;
    const what = typeof op === "string" ? `op ${quoted(op)} is not known` : `op is not a string`;
    return refusal("schema", "/op", what);
  }
  if (Object.hasOwn(value, "ok")) {
    const ok = member(value, "ok");
    if (typeof ok === "boolean") return ok ? "reply" : "refusal";
    return refusal("schema", "/ok", `field "ok" is neither true nor false`);
  }
  if (!Object.hasOwn(value, "type")) return refusal("schema", "/op", `field "op" is missing`);
  const type = member(value, "type");
  const kind = streamKinds.find((one) => one === type);
  if (kind !== undefined) return kind;
  const what = typeof type === "string" ? `frame ${quoted(type)} is not known` : "type is no text";
  return refusal("schema", "/type", what);
}
