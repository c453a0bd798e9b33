// Numbers that follow from a seed, for tests that must be repeatable from one printed number.

/** Marsaglia's xorshift with 32 bits of state: fast, and good enough to choose among mutations. */
export class Random {
  private state: number;

  constructor(seed: number) {
    // Zero would stay zero; the multiplier spreads seeds that are near one another.
    this.state = Math.imul(seed | 0, 0x9e3779b1) || 1;
    for (let round = 0; round < 4; round++) this.next();
  }

  private next(): number {
    let word = this.state;
    word ^= word << 13;
    word ^= word >>> 17;
    word ^= word << 5;
    this.state = word;
    return word >>> 0;
  }

  /** A whole number from 0 to `end` - 1. */
  below(end: number): number {
    return this.next() % end;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }
}
