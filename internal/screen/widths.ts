// How many columns a character takes. The emulator's own table is of Unicode 6, where emoji are
// narrow; programs and terminals of today count them as wide.

import type { Cell, Core } from "./internals.ts";
import { marksInCellMax } from "./limits.ts";

/** 255: not asked yet. A table of a plane is made when its first character comes. */
const unknown = 255;
const planes: (Uint8Array | undefined)[] = [];

export function widthOf(codePoint: number): 0 | 1 | 2 {
  if (codePoint < 0x300) return codePoint < 0x20 ? 0 : 1;
  const plane = codePoint >>> 16;
  planes[plane] ??= new Uint8Array(0x10000).fill(unknown);
  const table = planes[plane];
  const known = table[codePoint & 0xffff];
  if (known !== undefined && known !== unknown) return known as 0 | 1 | 2;
  const width = Math.min(2, Bun.stringWidth(String.fromCodePoint(codePoint))) as 0 | 1 | 2;
  table[codePoint & 0xffff] = width;
  return width;
}

/** Properties as the emulator packs them: how many marks so far, width, whether it joins. */
const packed = (marks: number, width: number, joins: boolean) =>
  (marks << 3) | (width << 1) | (joins ? 1 : 0);

/** A provider of widths for the emulator's `unicode` interface. */
export function widthProvider(core: Core, cell: Cell) {
  return {
    version: "today",
    wcwidth: widthOf,
    charProperties(codePoint: number, preceding: number): number {
      if (codePoint < 0x300) return codePoint < 0x20 ? 0 : packed(0, 1, false);
      const width = widthOf(codePoint);
      if (width > 0) return packed(0, width, false);
      const before = (preceding >>> 1) & 3;
      if (before === 0) return afterMove(core, cell);
      const marks = (preceding >>> 3) + 1;
      if (marks > marksInCellMax) return packed(0, 1, false);
      return packed(marks, before, true);
    },
  };
}

/** A mark that follows no character belongs to the cell left of the cursor, if there is one. */
function afterMove({ buffers }: Core, cell: Cell): number {
  const { x, y, ybase, lines } = buffers.active;
  const line = lines.get(ybase + y);
  if (x === 0 || line === undefined) return packed(0, 1, false);
  const left = line.loadCell(x - 1, cell);
  const marks = (left.getWidth() > 0 || x < 2 ? left : line.loadCell(x - 2, cell)).getChars();
  return marks.length > marksInCellMax ? packed(0, 1, false) : packed(0, 0, true);
}
