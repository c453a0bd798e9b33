// What every control file has in common: UTF-8 text of whole lines. This file turns bytes into
// text and text into lines, and is the only place that decides about encoding, line ends, padding
// and control characters. A parser of one control never sees a byte or an unfinished line.

import { type Code, controlBytesMax } from "../abi/mod.ts";
import type { Parsed } from "./types.ts";

/** One line without its LF; `number` counts from 1. */
export interface Line {
  readonly text: string;
  readonly number: number;
}

export function accept<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function refuse(
  line: number,
  column: number,
  reason: string,
  code: Code = "EINVAL",
): Parsed<never> {
  return { ok: false, code, line, column, reason };
}

/** Bytes of a control file as text. EMSGSIZE past `controlBytesMax`, EINVAL when not UTF-8. */
export function decodeControl(bytes: Uint8Array): Parsed<string> {
  if (bytes.length > controlBytesMax) {
    const reason = `file has ${bytes.length} bytes, a control holds at most ${controlBytesMax}`;
    return refuse(1, 1, reason, "EMSGSIZE");
  }
  try {
    return accept(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return refuseEncoding(bytes);
  }
}

/** The line and column where decoding stops being possible. */
function refuseEncoding(bytes: Uint8Array): Parsed<never> {
  const lossy = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  // The lossy text and the bytes agree up to the first replacement that the bytes do not spell.
  const encoder = new TextEncoder();
  let line = 1;
  let column = 1;
  let offset = 0;
  for (const character of lossy) {
    const spelled = encoder.encode(character);
    if (!spelled.every((byte, index) => bytes[offset + index] === byte)) break;
    offset += spelled.length;
    if (character === "\n") {
      line += 1;
      column = 1;
    } else {
      column += character.length;
    }
  }
  return refuse(line, column, "text is not valid UTF-8");
}

/** Text without NUL and lone surrogates; newlines, tabs and everything printable are free. */
export function parseText(text: string): Parsed<string> {
  return checkText(text, /[\0]|[\ud800-\udfff]/u) ?? accept(text);
}

// Everything below U+0020 but TAB and LF, and DEL. CR is here so that a file with CRLF line ends
// is refused by name instead of carrying an invisible character into a value.
const controlCharacter = /[\0-\x08\x0b-\x1f\x7f]|[\ud800-\udfff]/u;

function checkText(text: string, forbidden: RegExp): Parsed<never> | undefined {
  if (text.startsWith("\ufeff")) return refuse(1, 1, "file starts with a byte order mark");
  const bytes = text.length > controlBytesMax / 3 ? new TextEncoder().encode(text).length : 0;
  if (bytes > controlBytesMax) {
    const reason = `file has ${bytes} bytes, a control holds at most ${controlBytesMax}`;
    return refuse(1, 1, reason, "EMSGSIZE");
  }
  const hit = forbidden.exec(text);
  if (hit === null) return undefined;
  const before = text.slice(0, hit.index);
  const line = before.split("\n").length;
  const column = hit.index - (before.lastIndexOf("\n") + 1) + 1;
  return refuse(line, column, nameCharacter(hit[0]));
}

function nameCharacter(character: string): string {
  if (character === "\r") return "carriage return, lines end in LF alone";
  const number = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return `character U+${number} is not allowed`;
}

/** The lines of a list. An empty file has none; the last line must end in LF too. */
export function parseLines(text: string): Parsed<readonly Line[]> {
  const wrong = checkText(text, controlCharacter);
  if (wrong) return wrong;
  if (text === "") return accept([]);
  const parts = text.split("\n");
  const last = parts.pop() as string;
  if (last !== "") {
    const reason = "last line does not end in a newline, it may have been cut";
    return refuse(parts.length + 1, last.length + 1, reason);
  }
  return accept(parts.map((part, index) => ({ text: part, number: index + 1 })));
}

/** The only line of a single value: not empty, not padded, ended by one LF, nothing after it. */
export function parseSingle(text: string): Parsed<string> {
  const lines = parseLines(text);
  if (!lines.ok) return lines;
  const [first, second] = lines.value;
  if (first === undefined) return refuse(1, 1, "file is empty, it must hold one line");
  if (second !== undefined) return refuse(2, 1, "only one line is allowed");
  return checkItem(first) ?? accept(first.text);
}

/** The lines of a list whose items may be neither blank nor padded. */
export function parseItems(text: string): Parsed<readonly Line[]> {
  const lines = parseLines(text);
  if (!lines.ok) return lines;
  for (const line of lines.value) {
    const wrong = checkItem(line);
    if (wrong) return wrong;
  }
  return lines;
}

function checkItem(line: Line): Parsed<never> | undefined {
  if (line.text.trim() === "") return refuse(line.number, 1, "line is blank");
  if (/^\s/u.test(line.text)) return refuse(line.number, 1, "value starts with a space");
  const end = line.text.trimEnd().length;
  if (end === line.text.length) return undefined;
  return refuse(line.number, end + 1, "value ends with a space");
}

/** `parseItems`, each line through `item`, which answers with a value or the reason against it. */
export function parseList<T>(
  text: string,
  item: (line: Line) => Parsed<T>,
  repeats: "allowed" | "refused",
): Parsed<readonly T[]> {
  const lines = parseItems(text);
  if (!lines.ok) return lines;
  const values: T[] = [];
  const seen = new Map<string, number>();
  for (const line of lines.value) {
    const parsed = item(line);
    if (!parsed.ok) return parsed;
    const earlier = seen.get(line.text);
    if (earlier !== undefined && repeats === "refused") {
      return refuse(line.number, 1, `line repeats line ${earlier}`);
    }
    seen.set(line.text, line.number);
    values.push(parsed.value);
  }
  return accept(values);
}
