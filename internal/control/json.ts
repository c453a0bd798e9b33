// JSON controls. The engine's parser decides whether text is JSON; when it says no, the scanner
// here finds the line and column, which the engine does not tell.

import { accept, parseLines, parseText, refuse } from "./text.ts";
import type { Parsed } from "./types.ts";

export type JsonObject = Record<string, unknown>;

/** Nested arrays and objects of a JSON control. Past it EINVAL, so that no reader overflows. */
export const jsonDepthMax = 64;

/** One JSON object; white space around it is free. */
export function parseJsonObject(text: string): Parsed<JsonObject> {
  const checked = parseText(text);
  if (!checked.ok) return checked;
  return parseObjectAt(text, 1);
}

/** One JSON object of any size: whoever has the text has bounded it. */
export function parseJsonDocument(text: string): Parsed<JsonObject> {
  return parseObjectAt(text, 1);
}

/** JSONL: a JSON object a line. */
export function parseJsonLines(text: string): Parsed<readonly JsonObject[]> {
  const lines = parseLines(text);
  if (!lines.ok) return lines;
  const values: JsonObject[] = [];
  for (const line of lines.value) {
    const parsed = parseObjectAt(line.text, line.number);
    if (!parsed.ok) return parsed;
    values.push(parsed.value);
  }
  return accept(values);
}

function parseObjectAt(text: string, firstLine: number): Parsed<JsonObject> {
  // The scan runs first because it bounds the depth before the engine's parser recurses.
  const fault = new Scanner(text).fault();
  if (fault) {
    const before = text.slice(0, fault.offset);
    const line = before.split("\n").length;
    const column = fault.offset - (before.lastIndexOf("\n") + 1) + 1;
    return refuse(line + firstLine - 1, column, fault.reason);
  }
  const value: unknown = JSON.parse(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return accept(value as JsonObject);
  }
  const start = text.search(/\S/);
  const lead = text.slice(0, start);
  const line = lead.split("\n").length + firstLine - 1;
  return refuse(line, start - lead.lastIndexOf("\n"), "JSON value is not an object");
}

interface Fault {
  readonly offset: number;
  readonly reason: string;
}

const space = /[ \t\n\r]*/y;
const literal = /true|false|null/y;
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const stringBody = /(?:[^"\\\0-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;

/** Walks one JSON text and remembers the first thing that RFC 8259 does not allow. */
class Scanner {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  fault(): Fault | undefined {
    const wrong = this.value(0);
    if (wrong) return wrong;
    this.skip(space);
    return this.at === this.text.length ? undefined : this.wrong("text follows the JSON value");
  }

  private value(depth: number): Fault | undefined {
    this.skip(space);
    if (depth > jsonDepthMax) return this.wrong(`JSON nests deeper than ${jsonDepthMax}`);
    const first = this.text[this.at];
    if (first === undefined) return this.wrong("JSON value is missing or cut short");
    if (first === '"') return this.string();
    if (first === "{") return this.members("}", depth);
    if (first === "[") return this.members("]", depth);
    if (this.skip(literal) > 0 || this.skip(number) > 0) return undefined;
    return this.wrong(`${JSON.stringify(first)} does not start a JSON value`);
  }

  private members(close: "}" | "]", depth: number): Fault | undefined {
    this.at += 1;
    this.skip(space);
    if (this.take(close)) return undefined;
    const keys = new Set<string>();
    for (;;) {
      const wrong = (close === "}" ? this.key(keys) : undefined) ?? this.value(depth + 1);
      if (wrong) return wrong;
      this.skip(space);
      if (this.take(close)) return undefined;
      if (!this.take(",")) return this.wrong(`"," or "${close}" is expected`);
    }
  }

  private key(keys: Set<string>): Fault | undefined {
    this.skip(space);
    const start = this.at;
    if (this.text[start] !== '"') return this.wrong("a member name in double quotes is expected");
    const wrong = this.string();
    if (wrong) return wrong;
    const name = this.text.slice(start, this.at);
    // Two spellings of one name are one member, and the engine would keep the later one.
    const meant = name.includes("\\") ? JSON.stringify(JSON.parse(name)) : name;
    if (keys.has(meant))
      return { offset: start, reason: `member ${name.slice(0, 80)} is repeated` };
    keys.add(meant);
    this.skip(space);
    return this.take(":") ? undefined : this.wrong('":" is expected after the member name');
  }

  private string(): Fault | undefined {
    const start = this.at;
    this.at += 1;
    this.skip(stringBody);
    if (this.take('"')) return undefined;
    if (this.at === this.text.length) return { offset: start, reason: "string is not closed" };
    return this.wrong("string holds a raw control character or a wrong escape");
  }

  private skip(pattern: RegExp): number {
    pattern.lastIndex = this.at;
    const length = pattern.exec(this.text)?.[0].length ?? 0;
    this.at += length;
    return length;
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private wrong(reason: string): Fault {
    return { offset: this.at, reason };
  }
}
