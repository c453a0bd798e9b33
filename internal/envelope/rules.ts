// What no JSON Schema can say about an envelope: lengths in bytes, and values that no peer could
// pass on. `abi/sdk-envelope/v1/rules.json` lists these by name.

import type { Code } from "../abi/mod.ts";
import {
  fitsBytes,
  isJsonObject,
  type JsonObject,
  type LineRefusal,
  member,
  pointer,
  refusal,
  utf8Bytes,
  valueFault,
} from "../frame/mod.ts";
import {
  contextBytesMax,
  envelopeIdBytesMax,
  envelopeInputBytesMax,
  envelopeObservationBytesMax,
} from "./bounds.ts";

interface Bound {
  readonly path: readonly string[];
  readonly bytesMax: number;
  readonly code: Code;
}

const identifierBound = (...path: string[]): Bound => ({
  path,
  bytesMax: envelopeIdBytesMax,
  code: "EINVAL",
});

const textBound = (bytesMax: number, ...path: string[]): Bound => ({
  path,
  bytesMax,
  code: "EMSGSIZE",
});

const invocationBounds: readonly Bound[] = [
  identifierBound("run"),
  textBound(envelopeInputBytesMax, "input"),
  textBound(contextBytesMax, "history_messages"),
  textBound(contextBytesMax, "tool_context"),
  identifierBound("observation", "tool_call_id"),
  textBound(envelopeObservationBytesMax, "observation", "content"),
];

const frameBounds: readonly Bound[] = [identifierBound("run"), identifierBound("id")];

/** The first rule that a value of the right shape breaks. */
export function ruleFault(kind: string, value: JsonObject): LineRefusal | undefined {
  for (const bound of kind === "invocation" ? invocationBounds : frameBounds) {
    const wrong = boundFault(value, bound);
    if (wrong !== undefined) return wrong;
  }
  return valueFault(value);
}

function boundFault(value: JsonObject, bound: Bound): LineRefusal | undefined {
  let at: unknown = value;
  for (const name of bound.path) at = isJsonObject(at) ? member(at, name) : undefined;
  if (typeof at !== "string" || fitsBytes(at, bound.bytesMax)) return undefined;
  const path = pointer(bound.path);
  const message = `field "${path.slice(1)}" has ${utf8Bytes(at)} bytes, at most ${bound.bytesMax} are allowed`;
  return refusal("rule", path, message, bound.code);
}
