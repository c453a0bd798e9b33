// The rules of a v2 frame that no JSON Schema can say (rules.json names them): bytes counted, numbers
// compared with each other, days that exist, and what hides in somebody else's JSON.

import type { V2DataName } from "./v2-data.ts";
import type { JsonObject } from "./v2-fields.ts";
import { correlationNames, type KindFacts, type WireFrame } from "./v2-kinds.ts";
import { breaks, pointer, type Refusal } from "./v2-refusal.ts";

/** Correlation ids and every identifier in data, in bytes of UTF-8. Past it EINVAL. */
export const v2IdentifierBytesMax = 128;

/** `cwd` and `workspace`, in bytes: PATH_MAX without the closing NUL. Past it EINVAL. */
export const v2PathBytesMax = 4095;

/** Each text of an origin, in bytes, as in interaction v1. Past it EINVAL. */
export const v2OriginTextBytesMax = 256;

/** `origin.metadata` as compact JSON, in bytes. Past it EMSGSIZE. */
export const v2MetadataBytesMax = 8 * 1024;

/** `event` of an input as compact JSON, in bytes. Past it EMSGSIZE. */
export const v2EventBytesMax = 64 * 1024;

/** Levels of arrays and objects in a free value, itself counted. Past it EINVAL. */
export const v2NestingMax = 64;

/** UTF-16 units are one to three bytes of UTF-8, so most texts need no count. */
export function bytesExceed(text: string, max: number): boolean {
  if (text.length * 3 <= max) return false;
  return text.length > max || utf8Bytes(text) > max;
}

const utf8Bytes = (text: string) => new TextEncoder().encode(text).length;

type Data = Readonly<Record<string, unknown>>;

/** `suspect`: the line has escapes that may stand for half a character. */
export function rules(frame: WireFrame, facts: KindFacts, suspect: boolean): Refusal | undefined {
  return (
    correlationBytes(frame) ??
    (facts.data === "empty" ? undefined : dataRules(frame, facts.data)) ??
    (frame.event.origin === null ? undefined : originRules(frame.event.origin)) ??
    (suspect ? wellFormed(frame, "") : undefined)
  );
}

function textBytes(rule: string, value: unknown, path: string, max: number): Refusal | undefined {
  if (typeof value !== "string" || !bytesExceed(value, max)) return undefined;
  return breaks(rule, path, `is longer than ${max} bytes`);
}

function correlationBytes({ correlation }: WireFrame): Refusal | undefined {
  // Written out because this is asked of every frame, and the answer is no in almost all of them.
  const { connection_id, attachment_id, request_id, run_id, command_id } = correlation;
  if (
    !isLong(connection_id) &&
    !isLong(attachment_id) &&
    !isLong(request_id) &&
    !isLong(run_id) &&
    !isLong(command_id)
  ) {
    return undefined;
  }
  const name = correlationNames.find((one) => isLong(correlation[one])) ?? "connection_id";
  return breaks("identifier-bytes", `/correlation/${name}`, longIdentifier);
}

function originRules(origin: NonNullable<WireFrame["event"]["origin"]>): Refusal | undefined {
  const { metadata, ...texts } = origin;
  for (const [name, value] of Object.entries(texts)) {
    const refusal = textBytes(
      "origin-text-bytes",
      value,
      `/event/origin/${name}`,
      v2OriginTextBytesMax,
    );
    if (refusal !== undefined) return refusal;
  }
  return (
    metadata &&
    boundedJson("metadata-bytes", metadata, "/event/origin/metadata", v2MetadataBytesMax)
  );
}

function boundedJson(
  rule: string,
  value: JsonObject,
  path: string,
  max: number,
): Refusal | undefined {
  const inside = freeValue(value, path, v2NestingMax);
  if (inside !== undefined) return inside;
  if (!bytesExceed(JSON.stringify(value), max)) return undefined;
  return breaks(rule, path, `has more than ${max} bytes of JSON`, "EMSGSIZE");
}

/** Somebody else's JSON is handed on, so it must survive being written again. */
function freeValue(value: unknown, path: string, levels: number): Refusal | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return breaks("finite-numbers", path, "is a number past every double");
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return breaks("nesting", path, `nests more than ${v2NestingMax} levels`);
  for (const [key, inner] of Object.entries(value)) {
    const refusal = freeValue(inner, `${path}/${pointer(key)}`, levels - 1);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** Identifiers in data: where each stands. A path is built only for one that is too long. */
const identifiersIn: Partial<Record<V2DataName, (data: Data) => Refusal | undefined>> = {
  hello: (data) =>
    named(data, "master_id") ??
    items(data["versions"], "/event/data/versions") ??
    items(data["fallback_versions"], "/event/data/fallback_versions"),
  welcome: ({ server }) =>
    named(server as Data, "name", "/server") ?? named(server as Data, "version", "/server"),
  attached: (data) => named(data, "run") ?? waitingIdentifiers(data["waiting"] as readonly Data[]),
  event: (data) => named(data, "call_id") ?? named(data, "name") ?? named(data, "control"),
  command: (data) =>
    named(data, "effect_id") ??
    named(data["command"] as Data, "tool", "/command") ??
    named(data["command"] as Data, "name", "/command") ??
    named(data["command"] as Data, "level", "/command"),
  command_result: (data) => named(data, "effect_id"),
  status: (data) => named(data, "phase") ?? named(data, "run"),
};

function named(data: Data, name: string, at = ""): Refusal | undefined {
  if (!isLong(data[name])) return undefined;
  return breaks("identifier-bytes", `/event/data${at}/${name}`, longIdentifier);
}

function items(list: unknown, at: string): Refusal | undefined {
  const values = list as readonly string[];
  for (let index = 0; index < values.length; index++) {
    if (isLong(values[index])) return breaks("identifier-bytes", `${at}/${index}`, longIdentifier);
  }
  return undefined;
}

function waitingIdentifiers(waiting: readonly Data[]): Refusal | undefined {
  for (const [index, command] of waiting.entries()) {
    const at = `/waiting/${index}`;
    const refusal = named(command, "command_id", at) ?? named(command, "name", at);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

const longIdentifier = `is longer than ${v2IdentifierBytesMax} bytes`;

const isLong = (value: unknown) =>
  typeof value === "string" && bytesExceed(value, v2IdentifierBytesMax);

function dataRules(frame: WireFrame, name: V2DataName): Refusal | undefined {
  const data = frame.event.data as Data;
  return identifiersIn[name]?.(data) ?? dataRule[name]?.(data, frame);
}

type DataRule = (data: Data, frame: WireFrame) => Refusal | undefined;

const dataRule: Partial<Record<V2DataName, DataRule>> = {
  attached: attachedRules,
  gap: ({ from, to }) =>
    Number(from) <= Number(to)
      ? undefined
      : breaks("gap-order", "/event/data/to", `is below "from"`),
  input: inputRules,
  event: eventRules,
  command: commandRules,
  command_result: ({ result }) =>
    freeValue((result as Data)["payload"], "/event/data/result/payload", v2NestingMax),
};

function attachedRules(data: Data, frame: WireFrame): Refusal | undefined {
  if (data["session"] !== frame.event.session) {
    return breaks("attached-session", "/event/data/session", "is not the session of the frame");
  }
  if (Number(data["replay_from"]) <= Number(data["head"])) return undefined;
  return breaks("attached-cursor", "/event/data/replay_from", "lies past the head");
}

function inputRules(data: Data): Refusal | undefined {
  return (
    textBytes("path-bytes", data["cwd"], "/event/data/cwd", v2PathBytesMax) ??
    textBytes("path-bytes", data["workspace"], "/event/data/workspace", v2PathBytesMax) ??
    (data["event"] === undefined
      ? undefined
      : boundedJson(
          "event-bytes",
          data["event"] as JsonObject,
          "/event/data/event",
          v2EventBytesMax,
        ))
  );
}

/** A reference stands for more than what the frame holds; else nothing was cut. */
function eventRules(data: Data): Refusal | undefined {
  const whole = data["content_ref"] as { bytes: number } | undefined;
  const shown = data["text"] ?? data["content"];
  if (whole !== undefined && typeof shown === "string" && utf8Bytes(shown) >= whole.bytes) {
    return breaks(
      "content-cut",
      "/event/data/content_ref/bytes",
      "is no more than the frame itself holds",
    );
  }
  return freeValue(data["args"], "/event/data/args", v2NestingMax);
}

function commandRules(data: Data): Refusal | undefined {
  const command = data["command"] as Data;
  const free = command["type"] === "invoke" ? "payload" : "arguments";
  return (
    freeValue(command[free], `/event/data/command/${free}`, v2NestingMax) ??
    (dayExists(String(data["expires_at"]))
      ? undefined
      : breaks("instant-exists", "/event/data/expires_at", "is a day that does not exist"))
  );
}

function dayExists(instant: string): boolean {
  const [year = 0, month = 0, day = 0] = instant.slice(0, 10).split("-").map(Number);
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
  return day <= days;
}

/** Half a character has no UTF-8, so it could be neither written down nor compared. */
function wellFormed(value: unknown, path: string): Refusal | undefined {
  if (typeof value === "string" && !value.isWellFormed()) {
    return breaks("unicode", path, "is not valid Unicode");
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    if (!key.isWellFormed()) return breaks("unicode", path, "has a key that is not valid Unicode");
    const refusal = wellFormed(inner, `${path}/${pointer(key)}`);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}
