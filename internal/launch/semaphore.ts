// A fair counting semaphore: who came first goes first.

import { CodedError } from "../abi/mod.ts";

export class Semaphore {
  #free: number;
  #waiting: { resolve(): void }[] = [];

  constructor(permits: number) {
    this.#free = permits;
  }

  /** Permits that nobody holds or waits for. */
  get idle(): number {
    return this.#waiting.length === 0 ? this.#free : 0;
  }

  /** Resolves with the function that gives the permit back. Rejects ECANCELED when aborted first. */
  async acquire(signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw cancelled();
    if (this.#free > 0 && this.#waiting.length === 0) {
      this.#free -= 1;
      return this.#once();
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ticket = { resolve };
    this.#waiting.push(ticket);
    const abort = () => {
      const index = this.#waiting.indexOf(ticket);
      // Not in the line any more: the permit was handed over at the same moment and counts.
      if (index < 0) return;
      this.#waiting.splice(index, 1);
      reject(cancelled());
    };
    signal.addEventListener("abort", abort);
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", abort);
    }
    return this.#once();
  }

  /** Does the work with a permit. */
  async hold<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const release = await this.acquire(signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #once(): () => void {
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const next = this.#waiting.shift();
      // The permit goes from hand to hand, so that a newcomer cannot slip in between.
      if (next) next.resolve();
      else this.#free += 1;
    };
  }
}

function cancelled(): CodedError {
  return new CodedError("ECANCELED", "cancelled while waiting for a free sandbox");
}
