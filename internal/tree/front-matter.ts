// The YAML front matter of an agent's Markdown file. The text is cut at its top-level keys first and
// each part is parsed by itself, because the parser gives no places, takes the last of two equal keys
// and turns `010` into 10: so every key has its line, twice is refused, and a number that would not be
// written as it stands has to be quoted. Values are words, lists of words and `KEY: word` maps.

import { fail, type Place, quoted } from "../abi/mod.ts";

/** Bytes of the front matter. Past it EMSGSIZE, nothing is parsed. */
export const frontMatterBytesMax = 64 * 1024;

/** Items of one list or map. Past it EMSGSIZE. */
const itemsMax = 1024;

/** Characters of one key's items together, which aliases could multiply. Past it EMSGSIZE. */
const itemCharsMax = 256 * 1024;

export interface FrontItem {
  readonly text: string;
  readonly place: Place;
}

export interface FrontEntry {
  readonly key: string;
  readonly place: Place;
  readonly form: "word" | "list" | "map";
  /** One for a word; `KEY=VALUE` texts for a map. */
  readonly items: readonly FrontItem[];
}

export interface FrontMatter {
  readonly entries: readonly FrontEntry[];
  readonly body: string;
  /** Line of the file on which the body starts. */
  readonly bodyLine: number;
}

/** `file` names it in errors. Throws EINVAL with file, line and column, and EMSGSIZE. */
export function parseFrontMatter(text: string, file: string): FrontMatter {
  const refuse = (line: number, column: number, reason: string) =>
    fail("EINVAL", reason, { place: { file, line, column } });
  if (text.startsWith("\ufeff")) return refuse(1, 1, "file starts with a byte order mark");
  const lines = text.split("\n");
  const crlf = lines.findIndex((line) => line.endsWith("\r"));
  if (crlf >= 0) {
    const column = (lines[crlf] as string).length;
    return refuse(crlf + 1, column, "carriage return, lines end in LF alone");
  }
  if (lines[0]?.trimEnd() !== "---") return { entries: [], body: text, bodyLine: 1 };
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === "---");
  if (end < 0) return refuse(1, 1, "front matter starts here and no line --- ends it");
  const head = lines.slice(1, end);
  if (Buffer.byteLength(head.join("\n")) > frontMatterBytesMax) {
    const reason = `front matter is larger than ${frontMatterBytesMax} bytes`;
    return fail("EMSGSIZE", reason, { place: { file, line: 1, column: 1 } });
  }
  const entries = partsOf(head, file).map(parsePart);
  // Blank lines between the front matter and the text belong to neither.
  let start = end + 1;
  while (start < lines.length - 1 && lines[start]?.trim() === "") start += 1;
  return { entries, body: lines.slice(start).join("\n"), bodyLine: start + 1 };
}

/** The lines of one top-level key. */
interface Part {
  readonly key: string;
  readonly file: string;
  readonly line: number;
  readonly lines: string[];
}

const keyLine = /^([A-Za-z][A-Za-z0-9_.-]*)[ \t]*:(?=[ \t]|$)/;

function partsOf(head: readonly string[], file: string): Part[] {
  const parts: Part[] = [];
  for (const [index, text] of head.entries()) {
    const line = index + 2;
    const found = keyLine.exec(text);
    const part = parts.at(-1);
    if (found) {
      const key = found[1] as string;
      const earlier = parts.find((other) => other.key === key);
      if (earlier !== undefined) {
        const reason = `key ${quoted(key)} is set on line ${earlier.line} already`;
        fail("EINVAL", reason, { place: { file, line, column: 1 } });
      }
      parts.push({ key, file, line, lines: [text] });
    } else if (part !== undefined && /^(?:\s|-(?:\s|$)|[\]}]|$)/.test(text)) part.lines.push(text);
    else if (!/^(?:#|\s*$)/.test(text)) {
      const reason = `${quoted(text)} is not KEY: VALUE`;
      fail("EINVAL", reason, { place: { file, line, column: 1 } });
    } else part?.lines.push("");
  }
  return parts;
}

function parsePart(part: Part): FrontEntry {
  const { key, file, line } = part;
  const place = { file, line, column: 1 };
  const refuse = (reason: string, code: "EINVAL" | "EMSGSIZE" = "EINVAL") =>
    fail(code, `${key}: ${reason}`, { place });
  let value: unknown;
  try {
    value = (Bun.YAML.parse(part.lines.join("\n")) as Record<string, unknown>)[key];
  } catch (error) {
    // The engine's own words, without its prefix; it knows no line of ours.
    const reason = (error as Error).message.replace(/^YAML Parse error: |\.$/g, "");
    return refuse(`not YAML: ${reason.charAt(0).toLowerCase()}${reason.slice(1)}`);
  }
  const locate = locator(part);
  let characters = 0;
  const word = (of: unknown, what: string): string => {
    const text = wordOf(of, part.lines);
    if (text === undefined) return refuse(`${what} ${wordFault(of)}`);
    characters += text.length;
    if (characters > itemCharsMax) refuse(`more than ${itemCharsMax} characters`, "EMSGSIZE");
    return text;
  };
  if (typeof value !== "object" || value === null) {
    const text = word(value, "its value");
    return { key, place, form: "word", items: [{ text, place: locate(text) }] };
  }
  const pairs = Array.isArray(value) ? undefined : Object.entries(value);
  const items: readonly unknown[] = pairs ?? (value as unknown[]);
  if (items.length > itemsMax) refuse(`more than ${itemsMax} items`, "EMSGSIZE");
  if (pairs !== undefined) {
    const twice = repeatedName(part.lines, pairs);
    if (twice !== undefined) refuse(`${quoted(twice)} is there twice`);
    const texts = pairs.map(([name, of]) => ({ name, text: word(of, `value of ${quoted(name)}`) }));
    const located = texts.map(({ name, text }) => ({
      text: `${name}=${text}`,
      place: locate(name),
    }));
    return { key, place, form: "map", items: located };
  }
  const texts = items.map((of, index) => word(of, `item ${index + 1}`));
  return { key, place, form: "list", items: texts.map((text) => ({ text, place: locate(text) })) };
}

/** Of two equal names of a map the parser keeps the last; also where its text only looks like two. */
function repeatedName(lines: readonly string[], pairs: [string, unknown][]): string | undefined {
  const seen = new Set<string>();
  // What follows the first colon is the map itself, which may begin on the key's own line.
  const text = lines.join("\n").replace(/^[^:]*:/, "");
  for (const [, name = ""] of text.matchAll(
    /(?:^|[\n{,])[ \t]*["']?([\w.-]+)["']?[ \t]*:(?=\s|$)/g,
  )) {
    if (seen.has(name) && pairs.some(([known]) => known === name)) return name;
    seen.add(name);
  }
  return undefined;
}

/** Undefined for what is no word, or a number or truth value that is written in another way. */
function wordOf(value: unknown, lines: readonly string[]): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value !== "number" && typeof value !== "boolean") return undefined;
  const text = String(value);
  const tokens = lines.flatMap((line) => line.split(/[\s,[\]{}]+/));
  return tokens.includes(text) ? text : undefined;
}

function wordFault(value: unknown): string {
  if (value === null || value === undefined) return "is empty; write [] for an empty list";
  if (typeof value === "object") return "is neither a word nor a number";
  return `would be read as ${value}; put it in quotes`;
}

/** Where each item stands, in order; an item that YAML spells otherwise is found at its key. */
function locator({ file, line, lines, key }: Part): (text: string) => Place {
  let row = 0;
  let from = key.length + 1;
  return (text) => {
    const first = text.split("\n", 1)[0] ?? "";
    for (let at = row; first !== "" && at < lines.length; at += 1) {
      const column = (lines[at] as string).indexOf(first, at === row ? from : 0);
      if (column < 0) continue;
      row = at;
      from = column + first.length;
      return { file, line: line + at, column: column + 1 };
    }
    return { file, line, column: 1 };
  };
}
