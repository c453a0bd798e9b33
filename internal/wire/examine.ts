// What the judges of the op and v1 wires share: a line becomes a JSON object or a refusal, an object
// becomes a value of a shape or a refusal, and the rules that no JSON Schema can say are asked last.

import type * as z from "zod";
import { type Code, type JudgedBy, quoted } from "../abi/mod.ts";
import { fitsBytes, isJsonObject, pointer } from "../frame/mod.ts";

export type Fields = Readonly<Record<string, unknown>>;

export interface Refusal {
  readonly ok: false;
  readonly code: Code;
  /** JSON Pointer of what is wrong; "" is the whole line. */
  readonly path: string;
  readonly message: string;
  readonly by: JudgedBy;
  /** Name in rules.json of the rule that refused. */
  readonly rule?: string;
}

/** A line that is right, with its kind and its value: unknown fields gone, keys in canonical order. */
export type Examined =
  | { readonly ok: true; readonly kind: string; readonly value: Fields }
  | Refusal;

export type Read<T> = { readonly ok: true; readonly value: T } | Refusal;

export function refusal(
  by: JudgedBy,
  path: string,
  message: string,
  code: Code = "EINVAL",
): Refusal {
  return { ok: false, code, path, message, by };
}

/** The object of a line without its LF. `bytesMax` counts the line with its LF. */
export function readObject(line: string, bytesMax: number): Read<Fields> {
  if (!fitsBytes(line, bytesMax - 1)) {
    return refusal("line", "", `line is longer than ${bytesMax} bytes`, "EMSGSIZE");
  }
  if (line.includes("\n")) return refusal("line", "", "line holds a newline");
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return refusal("line", "", "line is not valid JSON");
  }
  if (isJsonObject(value)) return { ok: true, value };
  return refusal("schema", "", "line is not a JSON object");
}

/** A member of an object of JSON; null counts as absent, and nothing is inherited. */
export function member(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? (fields[name] ?? undefined) : undefined;
}

/** Checks a shape; `at` is the pointer of `value` in its line. The first fault is told. */
export function readShape(schema: z.ZodType, value: unknown, at: string): Read<Fields> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return { ok: true, value: parsed.data as Fields };
  const issue = parsed.error.issues[0];
  const steps = issue?.path.map(String) ?? [];
  const missing = at === "" && steps.length === 0 ? false : found(value, steps) === undefined;
  const fault = missing ? "is missing" : faultOf(issue);
  return refusal("schema", at + pointer(steps), `${named(at, steps)} ${fault}`);
}

/** A person reads the name of the field, a program the pointer. */
function named(at: string, steps: readonly string[]): string {
  const name = steps.join(".") || at.split("/").at(-1);
  return name ? `field ${quoted(name)}` : "frame";
}

function found(value: unknown, steps: readonly string[]): unknown {
  let here = value;
  for (const step of steps) here = (here as Fields | null | undefined)?.[step];
  return here ?? undefined;
}

function faultOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return "is wrong";
  switch (issue.code) {
    case "invalid_type":
      return `is not ${articled(issue.expected)}`;
    case "invalid_value":
      return `is not ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
    default:
      // Every other check of these schemas has a message of its own.
      return issue.message;
  }
}

function articled(type: string): string {
  return type === "int" ? "a whole number" : /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
