// A manifest in JSON: RFC 8259 and no member twice. The text is judged first, so that finding a
// field's place afterwards needs no second judgement.

import { parseJsonDocument } from "../control/mod.ts";
import { placeAt, refuse, type Source } from "./source.ts";

export function jsonSource(text: string, file: string): Source {
  const parsed = parseJsonDocument(text);
  if (!parsed.ok) {
    const { line, column, reason } = parsed;
    return refuse({ file, line, column }, undefined, reason);
  }
  return {
    file,
    value: parsed.value,
    place: (path, part) => placeAt(file, text, offsetOf(text, path, part)),
  };
}

/** Offset in a valid text of the deepest part of `path` that is there. */
function offsetOf(text: string, path: readonly string[], part: "name" | "value"): number {
  let at = skipSpace(text, 0);
  for (const [depth, name] of path.entries()) {
    const member = memberOf(text, at, name);
    if (member === undefined) return at;
    if (depth === path.length - 1 && part === "name") return member.name;
    at = member.value;
  }
  return at;
}

interface Member {
  readonly name: number;
  readonly value: number;
}

/** Where the member `wanted` of the object at `at` is; undefined for what is no object. */
function memberOf(text: string, at: number, wanted: string): Member | undefined {
  if (text[at] !== "{") return undefined;
  let next = skipSpace(text, at + 1);
  while (text[next] === '"') {
    const name = next;
    const end = skipString(text, name);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (JSON.parse(text.slice(name, end)) === wanted) return { name, value };
    next = skipSpace(text, skipValue(text, value));
    if (text[next] !== ",") return undefined;
    next = skipSpace(text, next + 1);
  }
  return undefined;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (" \t\n\r".includes(text[at] ?? "x")) at += 1;
  return at;
}

/** The offset after the string that starts at `from`. */
function skipString(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** The offset after the value that starts at `from`. */
function skipValue(text: string, from: number): number {
  let at = from;
  let depth = 0;
  for (;;) {
    const character = text[at];
    if (character === '"') at = skipString(text, at);
    else {
      if (character === "{" || character === "[") depth += 1;
      if (character === "}" || character === "]") depth -= 1;
      at += 1;
    }
    if (depth === 0 && ",]} \t\n\r".includes(text[at] ?? ",")) return at;
  }
}
