// The prompt and the line that is being edited, on the terminal: drawn, redrawn, taken off while
// somebody else prints, and left standing when it is done.

import { revealLine } from "../../internal/cli/mod.ts";
import {
  type Drawing,
  draw,
  type Editor,
  erase,
  layout,
  leave,
  marks,
  nothingDrawn,
  pasteMarksOff,
  pasteMarksOn,
  widthOf,
} from "../../internal/shell-line/mod.ts";
import type { Terminal } from "./terminal.ts";

export class LineView {
  readonly #terminal: Terminal;
  #drawn: Drawing = nothingDrawn;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get isShown(): boolean {
    return this.#drawn.rows.length > 0;
  }

  /** Draws the line over what was drawn of it before. */
  show(editor: Editor): void {
    const { cols, rows } = this.#terminal.size;
    const name = promptText(editor);
    const prompt = `${marks.prompt}\x1b[1m${name}\x1b[0m${marks.input}`;
    const shown = { prompt, promptWidth: widthOf(name), text: editor.text, cursor: editor.cursor };
    const next = layout(shown, cols, rows);
    const first = this.isShown ? "" : pasteMarksOn;
    this.#terminal.write(first + erase(this.#drawn, cols) + draw(next));
    this.#drawn = next;
  }

  /** Takes it off; the cursor is at the start of an empty row. */
  hide(): void {
    this.#terminal.write(erase(this.#drawn, this.#terminal.size.cols) + pasteMarksOff);
    this.#drawn = nothingDrawn;
  }

  /** Leaves it standing and goes below it. */
  leave(): void {
    this.#terminal.write(leave(this.#drawn) + pasteMarksOff);
    this.#drawn = nothingDrawn;
  }

  /** For a terminal that was wiped. */
  forget(): void {
    this.#drawn = nothingDrawn;
  }
}

function promptText({ search }: Editor): string {
  if (search !== undefined) {
    return `(${search.found ? "" : "no "}earlier line with '${revealLine(search.query)}') `;
  }
  return `${revealLine(`${process.env["CTX_AGENT"] || "tsh"}:${folder()}`)}> `;
}

/** Without the home's path. It is read each time, since a folder can be renamed under a process. */
function folder(): string {
  const home = process.env["HOME"];
  try {
    const path = process.cwd();
    if (home && (path === home || path.startsWith(`${home}/`)))
      return `~${path.slice(home.length)}`;
    return path;
  } catch {
    return "?";
  }
}
