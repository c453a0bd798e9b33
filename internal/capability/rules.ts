// What no JSON Schema can say about the capability socket. `abi/control/v1/rules.json` lists these.

import { type Code, updateContentBytesMax } from "../abi/mod.ts";
import {
  fitsBytes,
  type JsonObject,
  type LineRefusal,
  member,
  refusal,
  utf8Bytes,
  valueFault,
} from "../frame/mod.ts";
import { capabilityIdBytesMax, childInputBytesMax } from "./bounds.ts";

interface Bound {
  readonly bytesMax: number;
  readonly code: Code;
}

const identifierBound: Bound = { bytesMax: capabilityIdBytesMax, code: "EINVAL" };

const everyKind: Readonly<Record<string, Bound>> = {
  request_id: identifierBound,
  id: identifierBound,
  run: identifierBound,
};

const ofKind: Readonly<Record<string, Readonly<Record<string, Bound>>>> = {
  "agent.update": { content: { bytesMax: updateContentBytesMax, code: "EMSGSIZE" } },
  "agent.start": { input: { bytesMax: childInputBytesMax, code: "EMSGSIZE" } },
};

/** The first rule that a value of the right shape breaks. */
export function ruleFault(kind: string, value: JsonObject): LineRefusal | undefined {
  for (const [name, { bytesMax, code }] of Object.entries({ ...everyKind, ...ofKind[kind] })) {
    const text = member(value, name);
    if (typeof text !== "string" || fitsBytes(text, bytesMax)) continue;
    const message = `field "${name}" has ${utf8Bytes(text)} bytes, at most ${bytesMax} are allowed`;
    return refusal("rule", `/${name}`, message, code);
  }
  return valueFault(value);
}
