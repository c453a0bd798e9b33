// A sparse map from sequence numbers to file positions. It never holds more than a fixed number of
// entries: when it is full, every other one goes and the distance between them doubles.

import { indexEntriesMax, indexStrideRecords } from "./bounds.ts";
import { type Cursor, startCursor } from "./records.ts";

export class OffsetIndex {
  #entries: Cursor[] = [startCursor];
  #stride = indexStrideRecords;
  /** The newest positions, one after the other: readers that begin now begin at one of them. */
  #recent: Cursor[] = [];

  /** Tells the position after one more record; positions come in order. */
  add(cursor: Cursor): void {
    this.#recent.push(cursor);
    if (this.#recent.length > 2 * indexStrideRecords) this.#recent.splice(0, indexStrideRecords);
    if (cursor.seq % this.#stride !== 0) return;
    this.#entries.push(cursor);
    if (this.#entries.length <= indexEntriesMax) return;
    this.#stride *= 2;
    this.#entries = this.#entries.filter((entry) => entry.seq % this.#stride === 0);
  }

  /** The nearest known position at or before `seq`. */
  nearest(seq: number): Cursor {
    const recent = this.#recent[seq - (this.#recent[0]?.seq ?? 0)];
    if (recent?.seq === seq) return recent;
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
