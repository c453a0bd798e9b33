// From a line to a v2 frame, in stages: the line, who speaks and what kind it is, the shape of that
// kind, the relations of its fields, the rules. The first stage that refuses is the answer. Fields
// that are not known are dropped wherever they stand, and nothing is asked of what is in them.

import { type Code, type Judgement, quoted } from "../abi/mod.ts";
import { isObject, type JsonObject, v2Abi, v2LineBytesMax } from "./v2-fields.ts";
import type { V2Frame } from "./v2-frame.ts";
import {
  correlationNames,
  frameSchema,
  type KindEntry,
  type KindFacts,
  kindSides,
  type WireFrame,
} from "./v2-kinds.ts";
import { pointer, type Refusal, refuse } from "./v2-refusal.ts";
import { relations } from "./v2-relations.ts";
import { bytesExceed, rules, v2IdentifierBytesMax } from "./v2-rules.ts";

export type V2Attribution = { readonly [N in (typeof correlationNames)[number]]?: string };

export type DecodedV2 =
  | { readonly ok: true; readonly frame: V2Frame }
  | {
      readonly ok: false;
      readonly code: Code;
      readonly path: string;
      readonly message: string;
      /**
       * The longest prefix of correlation ids that the line had in good form, so that the refusal
       * can be put down to an attachment or a request and the rest of the connection lives on.
       */
      readonly attributed: V2Attribution;
    };

export type Checked =
  | { readonly ok: true; readonly frame: WireFrame; readonly facts: KindFacts }
  | { readonly ok: false; readonly refusal: Refusal; readonly value: unknown };

/** Decodes one line without its LF. Never throws: a peer's mistake is a value. */
export function decodeV2Line(line: string): DecodedV2 {
  const checked = checkLine(line);
  if (checked.ok) return { ok: true, frame: flatten(checked.frame) };
  const { code, path, message } = checked.refusal;
  return { ok: false, code, path, message, attributed: attributable(checked.value) };
}

/** Judges one line without its LF, and says which check refused it. */
export function judgeV2(line: string): Judgement {
  const checked = checkLine(line);
  if (checked.ok) return { ok: true, kind: checked.facts.kind };
  const { code, path, message, by } = checked.refusal;
  return { ok: false, code, path, message, by };
}

/** An escape of the surrogate range; whole pairs have two of them, so the rule decides. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

export function checkLine(line: string): Checked {
  const bare = (why: string, code: Code = "EINVAL"): Checked => ({
    ok: false,
    refusal: refuse("line", "", why, code),
    value: undefined,
  });
  if (bytesExceed(line, v2LineBytesMax - 1)) {
    return bare(`frame has more than ${v2LineBytesMax} bytes with its newline`, "EMSGSIZE");
  }
  if (!line.isWellFormed()) return bare("line is not valid UTF-8");
  if (line.includes("\n")) return bare("line holds a newline");
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return bare("frame is not valid JSON");
  }
  return checkValue(value, line.includes("\\u") && surrogateEscape.test(line));
}

/** `suspect`: some text in it may be half a character. */
export function checkValue(value: unknown, suspect: boolean): Checked {
  const facts = identify(value);
  if ("code" in facts) return { ok: false, refusal: facts, value };
  const parsed = frameSchema(facts).safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = issue?.path.map((key) => `/${pointer(String(key))}`).join("") ?? "";
    const missing = lookUp(value, issue?.path ?? []) === undefined;
    const why = missing ? "is missing" : (issue?.message ?? "is not valid");
    return { ok: false, refusal: refuse("schema", path, why), value };
  }
  const frame = parsed.data;
  const refusal = relations(frame, facts) ?? rules(frame, facts, suspect);
  return refusal === undefined ? { ok: true, frame, facts } : { ok: false, refusal, value };
}

/** What kind of frame it is, or why it cannot be told. */
function identify(value: unknown): KindEntry | Refusal {
  if (!isObject(value)) return refuse("schema", "", "frame is not a JSON object");
  const { abi, event } = value as { abi?: unknown; event?: unknown };
  if (abi !== v2Abi) {
    if (typeof abi !== "string") return refuse("schema", "/abi", missingOr(abi, "is not a string"));
    const why = `is ${quoted(abi)}, spoken here is "${v2Abi}"`;
    return refuse("schema", "/abi", why, "unsupported_version");
  }
  if (!isObject(event)) return refuse("schema", "/event", missingOr(event, "is not an object"));
  const { side, kind } = event as { side?: unknown; kind?: unknown };
  const sides = kindSides(kind);
  if (sides === undefined) {
    if (typeof kind === "string") {
      return refuse("schema", "/event/kind", `${quoted(kind)} is not known`);
    }
    return refuse("schema", "/event/kind", missingOr(kind, "is not a string"));
  }
  if (side !== "master" && side !== "slave") {
    return refuse("schema", "/event/side", missingOr(side, "is neither master nor slave"));
  }
  return (
    sides[side] ?? refuse("schema", "/event/side", `is "${side}", which sends no "${String(kind)}"`)
  );
}

const missingOr = (value: unknown, why: string) => (value === undefined ? "is missing" : why);

function lookUp(value: unknown, path: readonly PropertyKey[]): unknown {
  let inner = value;
  for (const key of path) {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, key)) return undefined;
    inner = (inner as Record<PropertyKey, unknown>)[key];
  }
  return inner;
}

function flatten({ correlation, session_seq, event }: WireFrame): V2Frame {
  const flat = identified(correlation, event.side, event.kind);
  if (session_seq !== null) flat.session_seq = session_seq;
  if (event.capabilities.length > 0 || announces(event.kind)) {
    flat.capabilities = event.capabilities;
  }
  if (event.mode !== null) flat.mode = event.mode;
  if (event.session !== null) flat.session = event.session;
  if (event.origin !== null) flat.origin = event.origin;
  flat.data = event.data;
  return flat as unknown as V2Frame;
}

type Flat = { -readonly [K in keyof WireFrame["event"] | "session_seq"]?: unknown };

/** The ids that are set, as one literal each: a frame is built for every line, so it must be quick. */
function identified(ids: WireFrame["correlation"], side: string, kind: string): Flat {
  const { connection_id, attachment_id, request_id, run_id, command_id } = ids;
  if (connection_id === null) return { side, kind };
  if (attachment_id === null) return { side, kind, connection_id } as Flat;
  if (request_id === null) return { side, kind, connection_id, attachment_id } as Flat;
  if (run_id === null) return { side, kind, connection_id, attachment_id, request_id } as Flat;
  const run = { side, kind, connection_id, attachment_id, request_id, run_id };
  return command_id === null ? run : ({ ...run, command_id } as Flat);
}

const announces = (kind: string) => kind === "hello" || kind === "welcome";

function attributable(value: unknown): V2Attribution {
  const ids: { -readonly [N in keyof V2Attribution]: V2Attribution[N] } = {};
  if (!isObject(value)) return ids;
  const { correlation } = value as { correlation?: unknown };
  if (!isObject(correlation)) return ids;
  for (const name of correlationNames) {
    const id = own(correlation, name);
    if (typeof id !== "string" || id === "" || id.includes("\0") || !id.isWellFormed()) break;
    if (bytesExceed(id, v2IdentifierBytesMax)) break;
    ids[name] = id;
  }
  return ids;
}

const own = (from: JsonObject, name: string) =>
  Object.hasOwn(from, name) ? from[name] : undefined;
