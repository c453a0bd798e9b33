// One line of a JSON wire as an object, and what no shape can say about the values in it. The judges
// of the strict wires start here: first the line, then the shape by their own schemas, then this.

import type { Judgement } from "../abi/mod.ts";

export type LineRefusal = Extract<Judgement, { ok: false }>;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Arrays and objects inside one another in a free value. Past it EINVAL, so no reader overflows. */
export const freeValueDepthMax = 64;

export const utf8Bytes = (text: string): number => new TextEncoder().encode(text).length;

/** Whether `text` has at most `max` UTF-8 bytes; a UTF-16 unit has at most three. */
export function fitsBytes(text: string, max: number): boolean {
  return text.length * 3 <= max || (text.length <= max && utf8Bytes(text) <= max);
}

/** A line without its LF; `bytesMax` counts it. One JSON object, well-formed, without a raw LF. */
export function readJsonLine(
  line: string,
  bytesMax: number,
): { readonly ok: true; readonly value: JsonObject } | LineRefusal {
  if (!fitsBytes(line, bytesMax - 1)) {
    return lineRefusal("EMSGSIZE", `line is longer than ${bytesMax} bytes`);
  }
  if (!line.isWellFormed()) return lineRefusal("EINVAL", "line is not valid UTF-8");
  if (line.includes("\n")) return lineRefusal("EINVAL", "line holds a second line");
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return lineRefusal("EINVAL", "line is not valid JSON");
  }
  if (isJsonObject(value)) return { ok: true, value };
  return refusal("schema", "", "line is not a JSON object");
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value of a member that the object itself has. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function lineRefusal(code: "EINVAL" | "EMSGSIZE", message: string): LineRefusal {
  return { ok: false, code, path: "", message, by: "line" };
}

export function refusal(
  by: "schema" | "rule",
  path: string,
  message: string,
  code: LineRefusal["code"] = "EINVAL",
): LineRefusal {
  return { ok: false, code, path, message, by };
}

/** A JSON Pointer (RFC 6901). */
export function pointer(path: readonly PropertyKey[]): string {
  return path
    .map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

interface Pending {
  readonly value: unknown;
  readonly path: readonly PropertyKey[];
}

/**
 * The first value in `value` that JSON text can spell and no peer could pass on as it is: half of a
 * surrogate pair, a number past the doubles, or more depth than a reader must stand.
 */
export function valueFault(value: unknown): LineRefusal | undefined {
  const pending: Pending[] = [{ value, path: [] }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const wrong = scalarFault(next);
    if (wrong !== undefined) return wrong;
    if (typeof next.value !== "object" || next.value === null) continue;
    // The frame itself is the first level, and what it holds freely starts at the second.
    if (next.path.length > freeValueDepthMax) {
      const message = `value nests deeper than ${freeValueDepthMax} levels`;
      return refusal("rule", pointer(next.path.slice(0, 1)), message);
    }
    const entries: [PropertyKey, unknown][] = Array.isArray(next.value)
      ? next.value.map((one, index) => [index, one])
      : Object.entries(next.value);
    const badName = entries.find(([name]) => typeof name === "string" && !name.isWellFormed());
    if (badName) return refusal("rule", pointer(next.path), "a member's name is not valid Unicode");
    for (const [name, one] of entries.reverse()) {
      pending.push({ value: one, path: [...next.path, name] });
    }
  }
  return undefined;
}

function scalarFault({ value, path }: Pending): LineRefusal | undefined {
  if (typeof value === "string" && !value.isWellFormed()) {
    return refusal("rule", pointer(path), "text is not valid Unicode");
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return refusal("rule", pointer(path), "number is too large for a double");
  }
  return undefined;
}
