// What a program printed on a terminal as text for reading and copying: escape sequences are taken
// out, colours only when they are wanted, and a line that was written over shows what was left of it.
// Pure. Whatever remains is harmless to print.

import { escapeText } from "../../internal/cli/mod.ts";

/** Columns that a carriage return or a backspace can go over; a longer line is only cut there. */
const columnsMax = 10_000;

// In this order: CSI; OSC, DCS, SOS, PM and APC up to their end; other escapes of two or three bytes;
// a lone escape. C1 controls are left to the escaping.
const sequence =
  /\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$|(?=\x1b))|[ -/]+[0-~]?|[0-~])?/g;

const colour = /^\x1b\[[0-9;:]*m$/;

// What a terminal obeys and shows nothing of: NUL, the bell, and the shifts between character sets,
// which a shell sends after each program to have the usual one again.
const unseen: readonly string[] = ["\x00", "\x07", "\x0e", "\x0f"];

export interface TextOptions {
  /** Keeps colours and other renditions. */
  readonly colours: boolean;
}

export function terminalText(bytes: Uint8Array, options: TextOptions): string {
  const text = new TextDecoder().decode(bytes).replace(/\r+\n/g, "\n");
  return text
    .split("\n")
    .map((line) => visible(line, options))
    .join("\n");
}

/** One line as it stands on the screen in the end. */
function visible(line: string, { colours }: TextOptions): string {
  const cells: string[] = [];
  let rendition = "";
  let column = 0;
  const put = (piece: string) => {
    for (const character of piece) {
      if (character === "\r") column = 0;
      else if (character === "\b") column = Math.max(column - 1, 0);
      else if (unseen.includes(character)) continue;
      else {
        cells[column] = rendition + escapeText(character);
        rendition = "";
        column = Math.min(column + 1, columnsMax);
      }
    }
  };
  let from = 0;
  for (const match of line.matchAll(sequence)) {
    put(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (colours && colour.test(match[0])) rendition += match[0];
    // What erases to the end of the line takes what a longer text left there.
    else if (/^\x1b\[0?K$/.test(match[0])) cells.length = Math.min(cells.length, column);
  }
  put(line.slice(from));
  return cells.map((cell) => cell ?? " ").join("") + rendition;
}
