// Says of one line of the op wire whether it is a right request or frame, and if not, what is wrong
// where. A line with `op` is a request, one without it a frame by its `type`.

import { type Judgement, opLineBytesMax, quoted } from "../abi/mod.ts";
import {
  type Examined,
  type Fields,
  member,
  type Read,
  type Refusal,
  readObject,
  readShape,
  refusal,
} from "./examine.ts";
import { brokenRule } from "./op-rules.ts";
import { type OpKind, opFrames, opRequests } from "./op-shapes.ts";

/** Kinds whose name both sides use; the client's one has this after it. */
const requestSuffix = "_request";

/** Judges a line without its LF; never throws. */
export function judgeOp(line: string): Judgement {
  return judged(examineOp(line));
}

/** The line in its one form, with LF. Throws RangeError for a line that is refused. */
export function canonicalOp(line: string): string {
  return encoded(examineOp(line), (value) => value);
}

export function examineOp(line: string): Examined {
  const read = readObject(line, opLineBytesMax);
  if (!read.ok) return read;
  const found = kindOf(read.value);
  if (!found.ok) return found;
  const { kind, is } = found.value;
  const shaped = readShape(is.shape, read.value, "");
  if (!shaped.ok) return shaped;
  return brokenRule(shaped.value, is.uses, "") ?? { ok: true, kind, value: shaped.value };
}

interface Found {
  readonly kind: string;
  readonly is: OpKind;
}

function kindOf(fields: Fields): Read<Found> {
  const op = member(fields, "op");
  if (op !== undefined) {
    const is = typeof op === "string" ? own(opRequests, op) : undefined;
    if (is === undefined) return unknownKind("op", op);
    const kind = own(opFrames, String(op)) === undefined ? String(op) : `${op}${requestSuffix}`;
    return { ok: true, value: { kind, is } };
  }
  const type = member(fields, "type");
  const abi = member(fields, "abi");
  if (type === undefined && typeof abi === "string") {
    const message = `abi ${quoted(abi)} is not that of this wire`;
    return refusal("schema", "/abi", message, "unsupported_version");
  }
  if (type === undefined) return refusal("schema", "/op", `field "op" is missing`);
  const is = typeof type === "string" ? own(opFrames, type) : undefined;
  return is === undefined
    ? unknownKind("type", type)
    : { ok: true, value: { kind: `${type}`, is } };
}

function unknownKind(field: "op" | "type", value: unknown): Refusal {
  const fault = typeof value === "string" ? `${quoted(value)} is not known` : "is not a string";
  return refusal("schema", `/${field}`, `${field} ${fault}`);
}

function own(kinds: Readonly<Record<string, OpKind>>, name: string): OpKind | undefined {
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined;
}

/** The judgement without what only this module needs. */
export function judged(examined: Examined): Judgement {
  if (examined.ok) return { ok: true, kind: examined.kind };
  const { ok, code, path, message, by } = examined;
  return { ok, code, path, message, by };
}

export function encoded(examined: Examined, wrap: (value: Fields) => unknown): string {
  if (!examined.ok) throw new RangeError(`line is refused: ${examined.message}`);
  return `${JSON.stringify(wrap(examined.value))}\n`;
}
