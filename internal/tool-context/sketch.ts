// How often a name was used lately, in little room: a count-min sketch of 4-bit counters that are all
// halved after a sample of uses, so that old uses count less. Source: Einziger, Friedman and Manes,
// "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on Storage, 2017. Values are
// never changed in place.

/** Counters of a row. A power of two; more tools than this share counters and look alike. */
const rowWidth = 256;

/** Rows, each with a hash of its own; a name's estimate is the smallest of its counters. */
const rowCount = 4;

export const sketchCounters = rowWidth * rowCount;

/** The most that a counter of four bits says. */
export const counterMax = 15;

/** Uses of a sample for each tracked entry, as the paper recommends. */
const samplePerEntry = 10;

export interface Sketch {
  /** One counter a byte, row after row. */
  readonly counters: Uint8Array;
  /** Uses since the sample began, those before the last halving counted half. */
  readonly additions: number;
}

export const emptySketch: Sketch = { counters: new Uint8Array(sketchCounters), additions: 0 };

/** A sample is bounded by the counters too: more uses than they can hold would say nothing. */
export function sampleUses(capacity: number): number {
  return Math.min(capacity * samplePerEntry, rowWidth * samplePerEntry);
}

export function estimate({ counters }: Sketch, name: string): number {
  return Math.min(...positions(name).map((at) => counters[at] ?? 0));
}

/** One more use of the name. Only its smallest counters grow, which keeps the others' error small. */
export function increment(sketch: Sketch, name: string, capacity: number): Sketch {
  const counters = Uint8Array.from(sketch.counters);
  const before = estimate(sketch, name);
  for (const at of positions(name)) {
    if (counters[at] === before && before < counterMax) counters[at] = before + 1;
  }
  const additions = sketch.additions + 1;
  if (additions < sampleUses(capacity)) return { counters, additions };
  return { counters: counters.map((one) => one >> 1), additions: additions >> 1 };
}

function positions(name: string): number[] {
  const bytes = new TextEncoder().encode(name);
  const first = fnv1a(bytes, 0x811c9dc5);
  // Odd, so that the rows of two names that share one counter do not all agree.
  const step = fnv1a(bytes, 0x9747b28c) | 1;
  return Array.from({ length: rowCount }, (_, row) => {
    const hash = (first + Math.imul(row, step)) >>> 0;
    return row * rowWidth + ((hash ^ (hash >>> 16)) & (rowWidth - 1));
  });
}

/** The 32-bit FNV-1a hash from a chosen basis: the same in every process, so a state can be kept. */
function fnv1a(bytes: Uint8Array, basis: number): number {
  let hash = basis;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
