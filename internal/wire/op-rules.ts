// What a JSON Schema cannot say about op and v1 frames: lengths in bytes, Unicode that has a UTF-8,
// and bounds of what is opaque. Each rule has its name in rules.json. Asked after the shape.

import {
  approvalReasonBytesMax,
  type Code,
  frameEnvelopeBytesMax,
  inputBytesMax,
  opLineBytesMax,
  requestIdBytesMax,
} from "../abi/mod.ts";
import { isJsonObject, utf8Bytes } from "../frame/mod.ts";
import { requestPathBytesMax } from "../interaction/mod.ts";
import type { Fields, Refusal } from "./examine.ts";

/** Compact JSON of an `event` or of a command's `value`. Past it EMSGSIZE. */
export const eventBytesMax = 64 * 1024;

/** Compact JSON of an origin's `metadata`. Past it EMSGSIZE. */
export const metadataBytesMax = 8 * 1024;

/** Arrays and objects inside each other in opaque JSON, itself counted. Past it EINVAL. */
export const nestingMax = 64;

export interface Rule {
  readonly name: string;
  /** Why a value of JSON breaks it; undefined when it does not. */
  check(value: unknown): string | undefined;
  readonly code: Code;
}

const identifierBytes: Rule = {
  name: "identifier-bytes",
  code: "EINVAL",
  check(value) {
    if (typeof value !== "string" || value.length * 3 <= requestIdBytesMax) return undefined;
    const bytes = utf8Bytes(value);
    if (bytes <= requestIdBytesMax) return undefined;
    return `has ${bytes} bytes, 1 to ${requestIdBytesMax} are allowed`;
  },
};

const pathBytes: Rule = {
  name: "path-bytes",
  code: "EINVAL",
  check: (value) =>
    typeof value === "string" && utf8Bytes(value) > requestPathBytesMax
      ? `is longer than ${requestPathBytesMax} bytes`
      : undefined,
};

const inputBytes: Rule = {
  name: "input-bytes",
  code: "EMSGSIZE",
  check(value) {
    if (typeof value !== "string" || value.length * 6 <= inputBytesMax) return undefined;
    const bytes = utf8Bytes(value);
    if (bytes > inputBytesMax) return `has ${bytes} bytes, at most ${inputBytesMax} are taken`;
    const fits = utf8Bytes(JSON.stringify(value)) <= opLineBytesMax - frameEnvelopeBytesMax;
    return fits ? undefined : "does not fit a frame once it is escaped";
  },
};

const reasonBytes: Rule = {
  name: "reason-bytes",
  code: "EMSGSIZE",
  check(value) {
    if (typeof value !== "string" || utf8Bytes(value) <= approvalReasonBytesMax) return undefined;
    return `is longer than ${approvalReasonBytesMax} bytes`;
  },
};

const nesting: Rule = {
  name: "nesting",
  code: "EINVAL",
  check(value) {
    let level = [value].filter(isContainer);
    for (let depth = 1; level.length > 0; depth += 1) {
      if (depth > nestingMax) return `is nested more than ${nestingMax} deep`;
      level = level.flatMap((one) => Object.values(one).filter(isContainer));
    }
    return undefined;
  },
};

/** JSON can write a number that no double holds; encoded again it would be null. */
const finiteNumbers: Rule = {
  name: "finite-numbers",
  code: "EINVAL",
  check(value) {
    for (const left: unknown[] = [value]; left.length > 0; ) {
      const one = left.pop();
      if (typeof one === "number" && !Number.isFinite(one)) return "holds a number without end";
      if (isContainer(one)) for (const inner of Object.values(one)) left.push(inner);
    }
    return undefined;
  },
};

function compactBytes(name: string, bytesMax: number): Rule {
  return {
    name,
    code: "EMSGSIZE",
    check: (value) =>
      utf8Bytes(JSON.stringify(value)) > bytesMax ? `is longer than ${bytesMax} bytes` : undefined,
  };
}

const unicode: Rule = {
  name: "unicode",
  code: "EINVAL",
  check: (value) =>
    typeof value === "string" && !value.isWellFormed() ? "is not valid Unicode" : undefined,
};

const rulesOfUse = {
  identifier: [identifierBytes],
  path: [pathBytes],
  input: [inputBytes],
  reason: [reasonBytes],
  // The nesting comes first: what is nested without end cannot be measured.
  event: [nesting, finiteNumbers, compactBytes("event-bytes", eventBytesMax)],
  metadata: [nesting, finiteNumbers, compactBytes("metadata-bytes", metadataBytesMax)],
} as const satisfies Record<string, readonly Rule[]>;

/** What fields of a kind are used for, by their pointers below the frame. */
export type Uses = Readonly<Record<string, keyof typeof rulesOfUse>>;

/** The first broken rule; `at` is the pointer of `value` in its line. */
export function brokenRule(value: Fields, uses: Uses, at: string): Refusal | undefined {
  const ill = unicodeFault(value, at);
  if (ill !== undefined) return ill;
  for (const [path, use] of Object.entries(uses)) {
    const subject = subjectOf(value, path);
    if (subject === undefined) continue;
    for (const rule of rulesOfUse[use]) {
      const fault = rule.check(subject);
      if (fault !== undefined) return broken(rule, at + path, fault);
    }
  }
  return undefined;
}

/** Members whose JSON is somebody else's: not looked into. */
const opaqueMembers = new Set(["args", "arguments", "event", "metadata", "payload"]);

function unicodeFault(value: unknown, at: string): Refusal | undefined {
  const fault = unicode.check(value);
  if (fault !== undefined) return broken(unicode, at, fault);
  if (!isContainer(value)) return undefined;
  for (const [name, one] of Object.entries(value)) {
    if (opaqueMembers.has(name)) continue;
    const inner = unicodeFault(one, `${at}/${name}`);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function broken({ name, code }: Rule, path: string, fault: string): Refusal {
  const message = `field "${path.split("/").at(-1)}" ${fault}`;
  return { ok: false, code, path, message, by: "rule", rule: name };
}

function subjectOf(value: Fields, path: string): unknown {
  let here: unknown = value;
  for (const step of path.split("/").slice(1)) here = isJsonObject(here) ? here[step] : undefined;
  return here;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
