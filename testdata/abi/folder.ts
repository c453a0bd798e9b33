// Reads one protocol's folder of abi/ for a module's test: its goldens, its tables, and a judge made
// of its schema.json by a validator that is not ours.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";

export const abiFolder = resolve(import.meta.dir, "../../abi");

export function readAbiJson<T>(path: string): T {
  return JSON.parse(readFileSync(join(abiFolder, path), "utf8")) as T;
}

export interface Reject {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly code: string;
  readonly path: string;
  readonly by: "line" | "schema" | "rule";
}

interface RejectFile {
  readonly about: string;
  readonly line?: string;
  readonly line_base64?: string;
  readonly before?: string;
  readonly unit?: string;
  readonly times?: number;
  readonly after?: string;
  readonly code: string;
  readonly path: string;
  readonly by: Reject["by"];
}

export interface ProtocolFolder {
  /** Kinds as kinds.json lists them. */
  readonly kinds: readonly string[];
  readonly rules: readonly {
    readonly name: string;
    readonly kinds: readonly string[];
    readonly code: string;
  }[];
  /** By name, whole lines with their LF. */
  readonly accept: ReadonlyMap<string, string>;
  readonly acceptAlso: ReadonlyMap<string, string>;
  readonly reject: readonly Reject[];
  /** What schema.json says of a parsed line. */
  schemaAccepts(value: unknown): boolean;
  readonly definitions: readonly string[];
}

function lines(folder: string): Map<string, string> {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return new Map(
    names.map((name) => [name.replace(/\.json$/, ""), readFileSync(join(folder, name), "utf8")]),
  );
}

function rejectOf(name: string, text: string): Reject {
  const file = JSON.parse(text) as RejectFile;
  const { code, path, by } = file;
  return { name, bytes: bytesOf(file), code, path, by };
}

function bytesOf(file: RejectFile): Uint8Array {
  if (file.line_base64 !== undefined) return Uint8Array.fromBase64(file.line_base64);
  const { before = "", unit = "", times = 0, after = "" } = file;
  return new TextEncoder().encode(file.line ?? before + unit.repeat(times) + after);
}

export function readProtocol(name: string): ProtocolFolder {
  const folder = join(abiFolder, name);
  const schema = readAbiJson<{ $defs: object }>(`${name}/schema.json`);
  const validate = new Ajv2020({
    strict: true,
    allowUnionTypes: true,
    strictRequired: false,
  }).compile(schema);
  return {
    kinds: readAbiJson<{ kinds: { kind: string }[] }>(`${name}/kinds.json`).kinds.map(
      (one) => one.kind,
    ),
    rules: readAbiJson(`${name}/rules.json`),
    accept: lines(join(folder, "accept")),
    acceptAlso: lines(join(folder, "accept-also")),
    reject: [...lines(join(folder, "reject"))].map(([file, text]) => rejectOf(file, text)),
    schemaAccepts: (value) => validate(value) === true,
    definitions: Object.keys(schema.$defs),
  };
}
