// The golden files of one protocol as values: what must be accepted, what must be refused and how.

import { type Code, fail, isCode, type JudgedBy } from "../abi/mod.ts";
import { abiFile, abiFileNames } from "./files.ts";

export interface AcceptGolden {
  /** Path below `abi/`. */
  readonly file: string;
  readonly kind: string;
  /** The whole file: one line with its LF. */
  readonly text: string;
}

export interface RejectGolden {
  readonly file: string;
  readonly kind: string;
  readonly about: string;
  /** The line without its LF. */
  readonly bytes: Uint8Array;
  readonly code: Code;
  /** JSON Pointer; "" is the whole line. */
  readonly path: string;
  readonly by: JudgedBy;
}

export interface Kind {
  readonly kind: string;
  readonly side: string;
  readonly correlation: readonly string[];
  readonly durable: string;
  readonly about: string;
}

export interface Kinds {
  readonly abi: string;
  readonly line_bytes_max: number;
  readonly unknown_fields: string;
  readonly kinds: readonly Kind[];
}

export interface Rule {
  readonly name: string;
  /** `*` is every kind. */
  readonly kinds: readonly string[];
  readonly code: Code;
  readonly rule: string;
}

export type Schema = Readonly<Record<string, unknown>>;

export function kindsOf(protocol: string): Kinds {
  return JSON.parse(abiFile(`${protocol}/kinds.json`)) as Kinds;
}

export function rulesOf(protocol: string): readonly Rule[] {
  return JSON.parse(abiFile(`${protocol}/rules.json`)) as Rule[];
}

export function schemaOf(protocol: string): Schema {
  return JSON.parse(abiFile(`${protocol}/schema.json`)) as Schema;
}

/** `accept` goldens are canonical bytes; `accept-also` are other bytes for the same. */
export function acceptGoldens(protocol: string, folder: "accept" | "accept-also"): AcceptGolden[] {
  return abiFileNames(`${protocol}/${folder}`).map((name) => {
    const file = `${protocol}/${folder}/${name}`;
    return { file, kind: kindOfName(name), text: abiFile(file) };
  });
}

export function rejectGoldens(protocol: string): RejectGolden[] {
  return abiFileNames(`${protocol}/reject`).map((name) => {
    const file = `${protocol}/reject/${name}`;
    const value = JSON.parse(abiFile(file)) as Record<string, unknown>;
    const { code, path, by, about } = value;
    if (typeof code !== "string" || !isCode(code) || typeof path !== "string") {
      return fail("EINVAL", `golden ${JSON.stringify(file)} names no code or no path`);
    }
    if (by !== "line" && by !== "schema" && by !== "rule") {
      return fail("EINVAL", `golden ${JSON.stringify(file)} does not say who can see it`);
    }
    const kind = kindOfName(name);
    return { file, kind, about: String(about), bytes: bytesOf(file, value), code, path, by };
  });
}

/** `tool_call-large.json` is of kind `tool_call`: kinds have no dash. */
function kindOfName(name: string): string {
  return name.replace(/\.json$/, "").split("-", 1)[0] as string;
}

function bytesOf(file: string, golden: Record<string, unknown>): Uint8Array {
  const { line, line_base64: base64, before, unit, times, after } = golden;
  if (typeof line === "string") return new TextEncoder().encode(line);
  if (typeof base64 === "string") return new Uint8Array(Buffer.from(base64, "base64"));
  if (typeof unit === "string" && typeof times === "number") {
    return new TextEncoder().encode(`${before ?? ""}${unit.repeat(times)}${after ?? ""}`);
  }
  return fail("EINVAL", `golden ${JSON.stringify(file)} has no line`);
}
