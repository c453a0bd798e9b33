// The pieces of one result, within the same bounds as the output of any other tool.

import { OutputWindow } from "../launch/mod.ts";
import {
  type KeepFrame,
  keptBytesMax,
  keptMax,
  pieceUnitsMax,
  type TextFrame,
} from "../mcp-wire/mod.ts";

/** Pieces of all that one result keeps, each full but for the last of its bytes. The rest is not kept. */
const keptPiecesMax = keptMax + Math.ceil(((keptBytesMax / 3) * 4) / pieceUnitsMax);

export class CollectedResult {
  readonly #window = new OutputWindow();
  readonly #kept = new Map<number, Uint8Array[]>();
  #keptBytes = 0;
  #pieces = 0;

  add(frame: TextFrame | KeepFrame): void {
    if (frame.kind === "text") {
      this.#window.push(new TextEncoder().encode(frame.text));
      return;
    }
    const bytes = Buffer.from(frame.data, "base64");
    // Pieces cost more than the bytes that they have: without a bound, small ones are no bound at all.
    if (this.#pieces >= keptPiecesMax) return;
    this.#pieces += 1;
    const known = this.#kept.get(frame.index);
    if (known === undefined && this.#kept.size >= keptMax) return;
    if (this.#keptBytes + bytes.length > keptBytesMax) return;
    this.#keptBytes += bytes.length;
    if (known === undefined) this.#kept.set(frame.index, [bytes]);
    else known.push(bytes);
  }

  text(): string {
    return this.#window.text();
  }

  get dropped(): number {
    return this.#window.dropped;
  }

  get kept(): readonly Uint8Array[] {
    return [...this.#kept.values()].map((pieces) => Buffer.concat(pieces));
  }
}
