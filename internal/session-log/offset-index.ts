// A sparse map from sequence numbers to file positions. It never holds more than a fixed number of
// entries: when it is full, every other one goes and the distance between them doubles.

import { indexEntriesMax, indexStrideRecords } from "./bounds.ts";
import { type Cursor, startCursor } from "./records.ts";

export class OffsetIndex {
  #entries: Cursor[] = [startCursor];
  #stride = indexStrideRecords;

  /** Tells the position after one more record; positions come in order. */
  add(cursor: Cursor): void {
    if (cursor.seq % this.#stride !== 0) return;
    this.#entries.push(cursor);
    if (this.#entries.length <= indexEntriesMax) return;
    this.#stride *= 2;
    this.#entries = this.#entries.filter((entry) => entry.seq % this.#stride === 0);
  }

  /** The nearest known position at or before `seq`. */
  nearest(seq: number): Cursor {
    let low = 0;
    let high = this.#entries.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#entries[middle]?.seq ?? 0) <= seq) low = middle;
      else high = middle - 1;
    }
    return this.#entries[low] ?? startCursor;
  }

  get length(): number {
    return this.#entries.length;
  }
}
