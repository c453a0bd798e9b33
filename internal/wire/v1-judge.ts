// Says of one line whether it is a right frame of interaction v1, and if not, what is wrong where. The
// envelope says the direction, and `type` in it the kind.

import { type Judgement, opLineBytesMax, quoted } from "../abi/mod.ts";
import { isJsonObject } from "../frame/mod.ts";
import {
  type Examined,
  type Fields,
  member,
  type Refusal,
  readObject,
  readShape,
  refusal,
} from "./examine.ts";
import { encoded, judged } from "./op-judge.ts";
import { brokenRule } from "./op-rules.ts";
import { type V1Kind, v1Abi, v1Events, v1Requests } from "./v1-shapes.ts";

export type V1Direction = "request" | "event";

/** A kind that both sides have; the client's one has a longer name. */
const statusRequest = "status_request";

const valuePath = "/payload/value";

/** Judges a line without its LF; never throws. */
export function judgeV1(line: string): Judgement {
  return judged(examineV1(line));
}

/** The line in its one form, with LF. Throws RangeError for a line that is refused. */
export function canonicalV1(line: string): string {
  const examined = examineV1(line);
  return encoded(examined, (value) => v1Envelope(directionOf(examined), value));
}

/** The value of the envelope; its kind tells the direction. */
export function examineV1(line: string): Examined {
  const read = readObject(line, opLineBytesMax);
  if (!read.ok) return read;
  const opened = openEnvelope(read.value);
  if (!opened.ok) return opened;
  const { kind, is, value } = opened;
  const shaped = readShape(is.shape, value, valuePath);
  if (!shaped.ok) return shaped;
  return brokenRule(shaped.value, is.uses, valuePath) ?? { ok: true, kind, value: shaped.value };
}

/** An envelope around a value whose keys are in order. */
export function v1Envelope(direction: V1Direction, value: object): object {
  return { abi: v1Abi, payload: { direction, value } };
}

function directionOf(examined: Examined): V1Direction {
  if (!examined.ok) return "event";
  const { kind } = examined;
  return kind === statusRequest || (kind !== "status" && Object.hasOwn(v1Requests, kind))
    ? "request"
    : "event";
}

interface Opened {
  readonly ok: true;
  readonly kind: string;
  readonly is: V1Kind;
  readonly value: Fields;
}

function openEnvelope(fields: Fields): Opened | Refusal {
  const abi = member(fields, "abi");
  if (abi === undefined) return refusal("schema", "/abi", `field "abi" is missing`);
  if (typeof abi !== "string") return refusal("schema", "/abi", `field "abi" is not a string`);
  if (abi !== v1Abi) {
    const message = `abi ${quoted(abi)} is not "${v1Abi}"`;
    return refusal("schema", "/abi", message, "unsupported_version");
  }
  const payload = member(fields, "payload");
  if (!isJsonObject(payload)) return lacking("/payload", payload, "an object");
  const direction = member(payload, "direction");
  if (direction !== "request" && direction !== "event") {
    return lacking("/payload/direction", direction, "request or event");
  }
  const value = member(payload, "value");
  if (!isJsonObject(value)) return lacking(valuePath, value, "an object");
  const type = member(value, "type");
  const path = `${valuePath}/type`;
  if (typeof type !== "string") return lacking(path, type, "a string");
  const kinds = direction === "request" ? v1Requests : v1Events;
  const is = Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  if (is === undefined) return refusal("schema", path, `${direction} ${quoted(type)} is not known`);
  const kind = direction === "request" && type === "status" ? statusRequest : type;
  return { ok: true, kind, is, value };
}

function lacking(path: string, value: unknown, what: string): Refusal {
  const fault = value === undefined ? "is missing" : `is not ${what}`;
  return refusal("schema", path, `field "${path.split("/").at(-1)}" ${fault}`);
}
