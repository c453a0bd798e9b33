// The single values of interaction v2 as zod schemas, with their bounds. Each carries the clause that
// follows the field's name in a refusal. What needs bytes counted or two fields compared is not here:
// shapes that JSON Schema can say stand in this stage, everything else in the rules.

import * as z from "zod";

export const v2Abi = "cortexfs.interaction/v2";

/** One frame with its LF. Past it EMSGSIZE, and the connection closes. */
export const v2LineBytesMax = 256 * 1024;

/** Words in `event.capabilities`. Past it EINVAL. */
const capabilitiesMax = 32;

/** Versions that a hello lists. Past it EINVAL. */
const versionsMax = 16;

/** Commands that an `attached` shows as waiting elsewhere. Past it EINVAL. */
const waitingMax = 256;

/** What an attachment may ask for. Any other word in an attach is refused, not ignored. */
export const v2Capabilities = [
  "input",
  "observe",
  "status",
  "cancel",
  "command_result",
  "invoke",
  "replay",
] as const;

const integer = (min: number, max = Number.MAX_SAFE_INTEGER) => {
  const error = `is not a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

const matching = (pattern: RegExp, error: string) => z.string({ error }).regex(pattern, { error });

const oneOf = <const T extends readonly [string, ...string[]]>(words: T) =>
  z.enum(words, { error: `is none of ${words.join(", ")}` });

export const text = z.string({ error: "is not a string" });
export const flag = z.boolean({ error: "is neither true nor false" });
export const positive = integer(1);
export const natural = integer(0);
export const nothing = z.null({ error: "must be null in a frame of this kind" });

/** Its bytes are counted by a rule; NUL and emptiness are seen here. */
export const identifier = text.refine((value) => value !== "" && !value.includes("\0"), {
  error: "is empty or holds a NUL character",
});

export const objectName = matching(
  /^(?!.*\.(?:sock|d)$)[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/,
  "is not an object name",
);
export const session = matching(
  /^(?!index$)(?!.*\.(?:sock|d)$)[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/,
  "is not a session name",
);
export const modelName = matching(
  /^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}\/[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/,
  "is not provider/model",
);
export const sha256 = matching(/^[0-9a-f]{64}$/, "is not 64 lower-case hex digits");

/** Absolute and canonical, without control characters. */
export const path = matching(
  /^(?:\/|(?:\/(?!\.{1,2}(?:\/|$))[^/\0-\x1f\x7f]+)+)$/,
  "is not an absolute canonical path",
);

/** RFC 3339 in UTC; whether the day exists is a rule. */
export const instant = matching(
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?Z$/,
  "is not an RFC 3339 instant in UTC",
);

/** Codes of other implementations pass: a client that does not know one goes by `retryable`. */
export const errorCode = matching(
  /^(?:E[A-Z0-9]{1,31}|[a-z][a-z0-9_]{0,63})$/,
  "does not have the form of an error code",
);

const word = text.refine(isCapabilityWord, { error: "is not a capability word" });

/** The known words first and by comparison: a frame has many of them, and this is its dearest part. */
function isCapabilityWord(value: string): boolean {
  switch (value) {
    case "input":
    case "observe":
    case "status":
    case "cancel":
    case "command_result":
    case "invoke":
    case "replay":
      return true;
    default:
      return /^[a-z][a-z0-9_]{0,63}$/.test(value);
  }
}

const listed = { error: `has more than ${capabilitiesMax} words` };
const list = { error: "is not a list" };

/** What a side announces; words that the other does not know mean nothing to it. */
export const announced = z.array(word, list).max(capabilitiesMax, listed);

/** What an attachment asks for or is given. */
export const granted = z.array(oneOf(v2Capabilities), list).max(capabilitiesMax, listed);

export const mode = oneOf(["observe", "interact"]);
export const scope = oneOf(["private", "shared", "temp"]);
export const sessionStatus = oneOf(["active", "idle", "done", "error"]);
export const runStatus = oneOf(["ok", "error", "cancelled", "interrupted"]);
export const callStatus = oneOf(["ok", "error"]);
export const approvalState = oneOf(["requested", "allowed", "denied"]);
export const role = oneOf(["user", "assistant"]);
export const gapReason = oneOf(["not_retained", "not_projected", "deltas_dropped"]);
export const frameBytes = integer(1, v2LineBytesMax);
export const tokens = integer(1, 2 ** 32 - 1);

export const versions = z
  .array(identifier, list)
  .max(versionsMax, { error: `has more than ${versionsMax} versions` });

export const waiting = z
  .array(
    z.object({ command_id: identifier, name: identifier }, { error: "is not an object" }),
    list,
  )
  .max(waitingMax, { error: `has more than ${waitingMax} commands` });

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Somebody else's JSON, handed on as it is. */
export const anyObject = z.custom<JsonObject>(isObject, { error: "is not an object" });
export const anyValue = z.unknown();

export const object = <T extends z.core.$ZodLooseShape>(shape: T) =>
  z.object(shape, { error: "is not an object" });

export const origin = object({
  transport: identifier,
  endpoint: identifier.optional(),
  identity: identifier.optional(),
  conversation: identifier.optional(),
  thread: identifier.optional(),
  metadata: anyObject.optional(),
});

export const contentRef = object({ sha256, bytes: positive });
