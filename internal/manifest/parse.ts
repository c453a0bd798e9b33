// A manifest, judged to the last field. What is not known is refused, since a field that is passed
// over is a promise that is not kept; each control's text is judged by the control's own grammar.

import { isObjectName, quoted } from "../abi/mod.ts";
import {
  controlNames,
  controlRow,
  isRuntimeOwned,
  type JsonObject,
  validateControl,
} from "../control/mod.ts";
import { controlText } from "./control-text.ts";
import { jsonSource } from "./json-source.ts";
import { manifestBytesMax, refuse, type Source } from "./source.ts";
import type { Manifest, ManifestClass } from "./types.ts";
import { rangeFault, versionFault } from "./version.ts";
import { yamlSource } from "./yaml-source.ts";

/** Characters of an executable's path. Past it EINVAL. */
const pathCharsMax = 1024;

/** Controls without which a tool's manifest says too little; `name` follows from the manifest's. */
const requiredOfTools = ["description", "schema", "cap", "policy"];
const optionalOfTools = ["program", "mcp"];

/**
 * The manifest in `text`: JSON when its first character is `{`, YAML otherwise. Throws EINVAL with
 * file, line, column and field, EMSGSIZE past `manifestBytesMax`.
 */
export function parseManifest(text: string, file: string): Manifest {
  const start = { file, line: 1, column: 1 };
  if (text.length > manifestBytesMax || new TextEncoder().encode(text).length > manifestBytesMax) {
    const reason = `it is larger than the ${manifestBytesMax} bytes of a manifest`;
    return refuse(start, undefined, reason, "EMSGSIZE");
  }
  if (text.startsWith("\ufeff")) refuse(start, undefined, "it starts with a byte order mark");
  const isJson = /^[ \t\r\n]*\{/.test(text);
  return new Reader(isJson ? jsonSource(text, file) : yamlSource(text, file)).manifest();
}

class Reader {
  readonly #source: Source;

  constructor(source: Source) {
    this.#source = source;
  }

  manifest(): Manifest {
    const { file } = this.#source;
    const schema = this.#word(["schema"], ["cortexfs.object/v2", "cortexfs.object/v1"]);
    const known = ["schema", "class", "name", "executable", "controls"];
    const isVersioned = schema === "cortexfs.object/v2";
    this.#refuseUnknown([], isVersioned ? [...known, "version", "compatibility"] : known, schema);
    const kind = this.#word(["class"], ["tool", "agent"]) as ManifestClass;
    const name = this.#text(["name"]);
    if (!isObjectName(name)) this.#refuse(["name"], `${quoted(name)} is not a name of an object`);
    return {
      file,
      schema: schema as Manifest["schema"],
      class: kind,
      name,
      version: isVersioned ? this.#version() : null,
      compatibility: isVersioned ? this.#compatibility() : null,
      executable: this.#executable(),
      controls: this.#controls(kind),
      place: (field) => this.#source.place(fieldPath(field), "value"),
    };
  }

  #version(): string {
    const version = this.#text(["version"]);
    const wrong = versionFault(version);
    if (wrong !== undefined) this.#refuse(["version"], wrong);
    return version;
  }

  #compatibility(): string {
    this.#object(["compatibility"]);
    this.#refuseUnknown(["compatibility"], ["cortexfs"]);
    const path = ["compatibility", "cortexfs"];
    const range = this.#text(path);
    const wrong = rangeFault(range);
    if (wrong !== undefined) this.#refuse(path, wrong);
    return range;
  }

  #executable(): Manifest["executable"] {
    this.#object(["executable"]);
    this.#refuseUnknown(["executable"], ["path", "sha256"]);
    const path = this.#text(["executable", "path"]);
    const wrong = relativeFault(path);
    if (wrong !== undefined) this.#refuse(["executable", "path"], wrong);
    const sha256 = this.#text(["executable", "sha256"]);
    if (!/^[0-9a-f]{64}$/.test(sha256)) {
      this.#refuse(["executable", "sha256"], "it is not 64 hex digits in lower case");
    }
    return { path, sha256 };
  }

  #controls(kind: ManifestClass): ReadonlyMap<string, string> {
    const given = this.#object(["controls"]);
    const names =
      kind === "tool"
        ? [...requiredOfTools, ...optionalOfTools]
        : controlNames("agent").filter((name) => !isRuntimeOwned("agent", name));
    this.#refuseUnknown(["controls"], names, kind);
    const texts = new Map<string, string>();
    for (const name of names) {
      const path = ["controls", name];
      if (Object.hasOwn(given, name)) texts.set(name, this.#control(kind, name, given[name]));
      else if (isNeeded(kind, name)) this.#refuse(path, `a manifest of ${a(kind)} needs it`);
    }
    return texts;
  }

  #control(kind: ManifestClass, name: string, value: unknown): string {
    const path = ["controls", name];
    const made = controlText(kind, name, value);
    if (!made.ok) return this.#refuse(path, made.reason);
    const parsed = validateControl(kind, name, made.text);
    if (parsed.ok) {
      const odd = name === "schema" && (parsed.value as JsonObject)["type"] !== "object";
      return odd ? this.#refuse(path, 'a tool\'s input needs "type": "object"') : made.text;
    }
    const { line, column, reason, code } = parsed;
    const where = this.#source.place(path, "value");
    const said = line === 1 && column === 1 ? "" : `its line ${line}, column ${column}: `;
    return refuse(where, fieldName(path), said + reason, code);
  }

  #word(path: readonly string[], words: readonly string[]): string {
    const text = this.#text(path);
    if (words.includes(text)) return text;
    return this.#refuse(path, `${quoted(text)} is not ${words.map(quoted).join(" or ")}`);
  }

  #text(path: readonly string[]): string {
    const value = this.#need(path);
    return typeof value === "string" ? value : this.#refuse(path, "it is not a text");
  }

  #object(path: readonly string[]): JsonObject {
    const value = this.#need(path);
    return isObject(value) ? value : this.#refuse(path, "it is not an object of fields");
  }

  #need(path: readonly string[]): unknown {
    return this.#find(path) ?? this.#refuse(path, "it is missing");
  }

  #find(path: readonly string[]): unknown {
    let value: unknown = this.#source.value;
    for (const name of path) {
      if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
      value = value[name];
    }
    return value;
  }

  #refuseUnknown(path: readonly string[], known: readonly string[], of?: string): void {
    const value = this.#find(path);
    const names = isObject(value) ? Object.keys(value) : [];
    const odd = names.find((name) => !known.includes(name));
    if (odd === undefined) return;
    const inside = [...path, odd];
    const whose = of === undefined ? "here, where" : `in ${of}, where`;
    const reason = `it is not known ${whose} ${known.join(", ")} may stand`;
    refuse(this.#source.place(inside, "name"), fieldName(inside), reason);
  }

  #refuse(path: readonly string[], reason: string): never {
    return refuse(this.#source.place(path, "value"), fieldName(path), reason);
  }
}

function isNeeded(kind: ManifestClass, name: string): boolean {
  if (kind === "tool") return requiredOfTools.includes(name);
  // Who an agent belongs to is the tree's business.
  return name !== "owner" && controlRow("agent", name)?.required === true;
}

function a(kind: ManifestClass): string {
  return kind === "agent" ? "an agent" : "a tool";
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldName(path: readonly string[]): string {
  return path.join(".");
}

/** "controls.system.md" is two names: no name before the last has a dot. */
function fieldPath(field: string): string[] {
  const dot = field.indexOf(".");
  return dot < 0 ? [field] : [field.slice(0, dot), field.slice(dot + 1)];
}

function relativeFault(path: string): string | undefined {
  if (path.length > pathCharsMax) return `it has more than ${pathCharsMax} characters`;
  if (path.startsWith("/")) return "it is not relative to the manifest's folder";
  const plain = path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  if (!plain) return 'it has an empty part, "." or ".."';
  return /[\0-\x1f\x7f]/.test(path) ? "it holds a control character" : undefined;
}
