// How a line that is edited lies on the terminal: rows that are broken here and not by the terminal, so
// that the cursor's place is known, and the escape sequences that draw them over what was drawn before.

import { clustersOf, visible, widthOf } from "./width.ts";

export interface Shown {
  /** Printed before the text as it is; no control characters but styles. */
  readonly prompt: string;
  readonly promptWidth: number;
  readonly text: string;
  readonly cursor: number;
}

export interface Drawing {
  readonly rows: readonly string[];
  /** Cells of each row, for finding the first one again after a change of size. */
  readonly widths: readonly number[];
  readonly cursorRow: number;
  readonly cursorColumn: number;
}

export const nothingDrawn: Drawing = { rows: [], widths: [], cursorRow: 0, cursorColumn: 0 };

/** Rows around the cursor, as many as the terminal shows. */
export function layout(shown: Shown, cols: number, rowsMax: number): Drawing {
  const rows: string[] = [];
  const widths: number[] = [];
  let row = shown.prompt;
  let width = shown.promptWidth;
  let at = 0;
  let cursorRow = 0;
  let cursorColumn = width;
  const endRow = () => {
    rows.push(row);
    widths.push(width);
    row = "";
    width = 0;
  };
  const markCursor = () => {
    if (at !== shown.cursor) return;
    cursorRow = rows.length;
    cursorColumn = width;
  };
  for (const cluster of clustersOf(shown.text)) {
    if (cluster === "\n") {
      markCursor();
      endRow();
      at += 1;
      continue;
    }
    const seen = visible(cluster);
    const cells = widthOf(seen);
    if (width + cells > cols && width > 0) endRow();
    markCursor();
    row += seen;
    width += cells;
    at += cluster.length;
  }
  // Behind a full row the cursor stands at the start of the next.
  if (width >= cols) endRow();
  markCursor();
  endRow();
  if (rows.length <= rowsMax) return { rows, widths, cursorRow, cursorColumn };
  const from = Math.min(Math.max(0, cursorRow - rowsMax + 1), rows.length - rowsMax);
  return {
    rows: rows.slice(from, from + rowsMax),
    widths: widths.slice(from, from + rowsMax),
    cursorRow: cursorRow - from,
    cursorColumn,
  };
}

/** Takes a drawing off: the cursor stands where it began. `cols` is the terminal's size now. */
export function erase(drawn: Drawing, cols: number): string {
  if (drawn.rows.length === 0) return "";
  let above = 0;
  // A terminal that became narrower has broken the rows that do not fit any more.
  for (let row = 0; row < drawn.cursorRow; row++) {
    above += Math.max(1, Math.ceil((drawn.widths[row] ?? 0) / cols));
  }
  const column =
    drawn.cursorColumn - ((drawn.widths[drawn.cursorRow] ?? 0) > drawn.cursorColumn ? 0 : 1);
  above += Math.floor(Math.max(0, column) / cols);
  return `\r${above > 0 ? `\x1b[${above}A` : ""}\x1b[J`;
}

/** Draws at the start of an empty row. */
export function draw({ rows, cursorRow, cursorColumn }: Drawing): string {
  const up = rows.length - 1 - cursorRow;
  const back = `\r${up > 0 ? `\x1b[${up}A` : ""}${cursorColumn > 0 ? `\x1b[${cursorColumn}C` : ""}`;
  return rows.join("\r\n") + back;
}

/** Leaves a drawing standing and goes below it. */
export function leave({ rows, cursorRow }: Drawing): string {
  const down = rows.length - 1 - cursorRow;
  return `${down > 0 ? `\x1b[${down}B` : ""}\r\n`;
}
