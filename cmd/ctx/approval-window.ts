// A text that a person is to judge, fitted to the window that it is read in. A terminal wraps a long
// line by itself, and what it wraps would stand at the left edge, where only lines of ours begin; so
// long lines are wrapped here. A text that is longer than the window says so below itself, where it is
// read last.

export interface Window {
  readonly columns: number;
  readonly rows: number;
}

/** Before what goes on a line. No line of ours begins like this. */
const goesOn = "  : ";

/** A window with less room is written for as if it had this much. */
const columnsMin = 20;

const tabColumns = 8;

/** The question takes one line, and so does what is said of the length. */
const rowsOfOurs = 2;

/** `text` is escaped and each line of it ends in a newline. */
export function fitted(text: string, { columns, rows }: Window): string {
  // A terminal may go to the next line as soon as the last column is written.
  const width = Math.max(columnsMin, columns) - 1;
  const lines = text
    .slice(0, -1)
    .split("\n")
    .flatMap((line) => wrapped(line, width));
  const shown = lines.map((line) => `${line}\n`).join("");
  if (lines.length + rowsOfOurs <= rows) return shown;
  return `${shown}these are ${lines.length} lines, more than this window shows at once\n`;
}

function wrapped(line: string, width: number): string[] {
  // Nothing is wider than two columns but a tab, and most lines are short.
  if (line.length * 2 <= width && !line.includes("\t")) return [line];
  const lines: string[] = [];
  let current = "";
  let column = 0;
  for (const character of line) {
    let next = column + widthOf(character, column);
    if (next > width) {
      lines.push(current);
      current = goesOn;
      next = goesOn.length + widthOf(character, goesOn.length);
    }
    current += character;
    column = next;
  }
  return [...lines, current];
}

/** Latin, Greek, Cyrillic and their neighbours; of others the most that a terminal may take. */
const narrow = /[\u0020-\u02ff\u0370-\u10ff\u1e00-\u1fff]/;

function widthOf(character: string, column: number): number {
  if (character === "\t") return tabColumns - (column % tabColumns);
  return narrow.test(character) ? 1 : 2;
}
