// Links of cells (OSC 8). The emulator's own table grows with every link until the line that held
// it scrolls away; a screen that is redrawn in place would fill the memory. This one is bounded and
// forgets the links that no cell names any more.

import type { Attributes, Cell, Core, ScreenBuffer } from "./internals.ts";
import { linkCharactersMax, linksMax } from "./limits.ts";
import { linkOf } from "./pen.ts";

export class Links {
  readonly #core: Core;
  readonly #cell: Cell;
  readonly #byId = new Map<number, string>();
  readonly #byText = new Map<string, number>();
  #next = 1;

  constructor(core: Core, cell: Cell) {
    this.#core = core;
    this.#cell = cell;
    core.registerOscHandler(8, (data) => {
      this.#open(data);
      return true;
    });
  }

  /** What follows `OSC 8 ;` for this link; nothing but the separator for none. */
  textOf(link: number): string {
    return this.#byId.get(link) ?? ";";
  }

  #open(data: string): void {
    const separator = data.indexOf(";");
    if (separator === -1) return;
    const pen = this.#core._inputHandler._curAttrData;
    const address = data.slice(separator + 1);
    // Cells keep the object that they were written with, so a change makes a new one.
    pen.extended = pen.extended.clone();
    pen.extended.urlId = address === "" ? 0 : this.#idOf(data);
    pen.updateExtended();
  }

  #idOf(text: string): number {
    const known = this.#byText.get(text);
    if (known !== undefined) return known;
    if (text.length > linkCharactersMax) return 0;
    if (this.#byId.size >= linksMax) this.#sweep();
    if (this.#byId.size >= linksMax) return 0;
    const id = this.#next++;
    this.#byId.set(id, text);
    this.#byText.set(text, id);
    return id;
  }

  #sweep(): void {
    const { normal, alt } = this.#core.buffers;
    const used = new Set<number>();
    const note = (attributes: Attributes) => used.add(linkOf(attributes));
    note(this.#core._inputHandler._curAttrData);
    for (const buffer of [normal, alt]) eachCell(buffer, this.#cell, note);
    for (const [id, text] of this.#byId) {
      if (used.has(id)) continue;
      this.#byId.delete(id);
      this.#byText.delete(text);
    }
  }
}

function eachCell({ lines }: ScreenBuffer, cell: Cell, visit: (cell: Cell) => void): void {
  // The list is a ring: past its end it begins again.
  for (let y = 0; y < lines.length; y++) {
    const line = lines.get(y);
    if (line === undefined) continue;
    for (let x = 0; x < line.length; x++) visit(line.loadCell(x, cell));
  }
}
