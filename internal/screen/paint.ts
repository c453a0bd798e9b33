// One buffer of the emulator as terminal output: what has to be written on a cleared screen so that
// every cell, its attributes and the wrapping of its lines are the same.

import type { Attributes, Cell, Line, ScreenBuffer } from "./internals.ts";
import type { Links } from "./links.ts";
import { isErasure, isProtected, linkOf, renditionOf } from "./pen.ts";
import { widthOf } from "./widths.ts";

export interface Grid {
  readonly cols: number;
  readonly rows: number;
}

/** Output on its way, and the pen that a terminal which read it writes with. */
export class Ink {
  readonly #links: Links;
  #text = "";
  #pen = "0";
  #isProtected = false;
  #link = 0;

  constructor(links: Links) {
    this.#links = links;
  }

  get text(): string {
    return this.#text;
  }

  write(text: string): void {
    this.#text += text;
  }

  moveTo(x: number, y: number): void {
    this.#text += x === 0 ? `\x1b[${y + 1}H` : `\x1b[${y + 1};${x + 1}H`;
  }

  /** Erasing leaves only the background, so only that is needed. */
  setPen(attributes: Attributes, isPen = false): void {
    const pen = renditionOf(attributes, isPen);
    const shielded = isProtected(attributes);
    if (pen !== this.#pen || shielded !== this.#isProtected) {
      if (this.#isProtected && !shielded) this.#text += '\x1b[0"q';
      this.#text += pen === "0" ? "\x1b[m" : `\x1b[${pen}m`;
      // After the rendition: some terminals drop the protection with it.
      if (shielded) this.#text += '\x1b[1"q';
      this.#pen = pen;
      this.#isProtected = shielded;
    }
    const link = linkOf(attributes);
    if (link === this.#link) return;
    this.#text += `\x1b]8;${link === 0 ? ";" : this.#links.textOf(link)}\x1b\\`;
    this.#link = link;
  }

  resetPen(): void {
    if (this.#link !== 0) this.#text += "\x1b]8;;\x1b\\";
    if (this.#isProtected) this.#text += '\x1b[0"q';
    if (this.#pen !== "0" || this.#isProtected) this.#text += "\x1b[m";
    this.#pen = "0";
    this.#isProtected = false;
    this.#link = 0;
  }
}

/** Paints a buffer; the terminal is cleared, wraps, does not insert and has no margins. */
export function paintBuffer(ink: Ink, buffer: ScreenBuffer, grid: Grid, cell: Cell): void {
  for (let y = 0; y < grid.rows; y++) {
    const line = buffer.lines.get(buffer.ybase + y);
    if (line === undefined) continue;
    const row = new Row(ink, line, y, grid.cols, cell);
    row.paint();
    if (y + 1 < grid.rows && buffer.lines.get(buffer.ybase + y + 1)?.isWrapped === true) row.wrap();
  }
}

class Row {
  readonly #ink: Ink;
  readonly #line: Line;
  readonly #y: number;
  readonly #cols: number;
  readonly #cell: Cell;
  /** Where the terminal's cursor is, -1 where that is not sure. */
  #at = -1;

  constructor(ink: Ink, line: Line, y: number, cols: number, cell: Cell) {
    this.#ink = ink;
    this.#line = line;
    this.#y = y;
    this.#cols = cols;
    this.#cell = cell;
  }

  paint(): void {
    for (let x = 0; x < this.#cols; ) x = this.#paintCell(x);
  }

  /** Paints what begins at `x` and gives back where the next cell is. */
  #paintCell(x: number): number {
    const cell = this.#line.loadCell(x, this.#cell);
    const characters = cell.getChars();
    if (characters === "" && isErasure(cell)) return this.#erase(x, cell.bg);
    this.#goTo(x);
    this.#ink.setPen(cell);
    const width = cell.getWidth();
    if (characters === "" || width === 0 || x + width > this.#cols) {
      this.#ink.write(" ");
      this.#at = x + 1;
      return x + 1;
    }
    // A mark without a letter stands on a space.
    const isMark = widthOf(characters.codePointAt(0) ?? 0) === 0;
    this.#ink.write(isMark ? ` ${characters}` : characters);
    this.#at = isSureOf(characters) ? x + width : -1;
    return x + width;
  }

  /** Erases from `x` as far as cells are empty on the same background. */
  #erase(x: number, background: number): number {
    let end = x + 1;
    for (; end < this.#cols; end++) {
      const cell = this.#line.loadCell(end, this.#cell);
      if (cell.getChars() !== "" || !isErasure(cell) || cell.bg !== background) break;
    }
    if (background === 0) return end;
    const first = this.#line.loadCell(x, this.#cell);
    this.#goTo(x);
    this.#ink.setPen(first);
    this.#ink.write(`\x1b[${end - x}X`);
    return end;
  }

  #goTo(x: number): void {
    // A character in the last column leaves the cursor waiting to wrap.
    if (this.#at === x && x < this.#cols) return;
    if (this.#at === -1) this.#ink.moveTo(x, this.#y);
    else this.#ink.write(`\x1b[${x + 1}G`);
    this.#at = x;
  }

  /** Makes the next line one that this line wrapped into, and leaves that line empty. */
  wrap(): void {
    const last = this.#line.loadCell(this.#cols - 1, this.#cell);
    const isEmpty = last.getChars() === "" && last.getWidth() > 0;
    if (isEmpty || this.#at !== this.#cols) this.#writeLast();
    this.#ink.resetPen();
    this.#ink.write(" \r\x1b[X");
    this.#at = -1;
    if (!isEmpty) return;
    const erased = this.#line.loadCell(this.#cols - 1, this.#cell);
    if (isErasure(erased)) {
      this.#ink.setPen(erased);
      this.#ink.moveTo(this.#cols - 1, this.#y);
      this.#ink.write("\x1b[X");
    }
  }

  /** Writes the line's last character again, so that the cursor waits to wrap. */
  #writeLast(): void {
    writeLast(this.#ink, this.#line, this.#y, this.#cols, this.#cell);
  }
}

/** Writes the last character of a line where it is; the cursor waits to wrap behind it. */
export function writeLast(ink: Ink, line: Line, y: number, cols: number, cell: Cell): void {
  const last = line.loadCell(cols - 1, cell);
  const x = last.getWidth() === 0 && cols > 1 ? cols - 2 : cols - 1;
  const first = line.loadCell(x, cell);
  ink.moveTo(x, y);
  ink.setPen(first);
  ink.write(first.getWidth() === cols - x ? first.getChars() || " " : " ");
}

/** Whether every terminal moves its cursor as far as ours did for this character. */
function isSureOf(characters: string): boolean {
  const code = characters.codePointAt(0) ?? 0;
  if (code < 0x300) return characters.length === 1;
  if (characters.length > 1 || code >= 0x10000) return false;
  // Ideographs and kana are wide, box drawing and alphabets are narrow, everywhere.
  return widthOf(code) === 2 ? code >= 0x2e80 : code < 0x2000 || (code >= 0x2500 && code < 0x25a0);
}
