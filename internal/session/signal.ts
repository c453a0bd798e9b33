// Lets several waiters sleep until something happens or a time is over.

export class Signal {
  #waiting = new Set<() => void>();

  /** Resolves at the next `fire`, at the latest after `ms`. */
  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }

  fire(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

/** Waits for all of these, however they end, at the longest `ms`. */
export async function settledWithin(all: readonly Promise<unknown>[], ms: number): Promise<void> {
  const signal = new Signal();
  const settled = Promise.allSettled(all);
  await Promise.race([settled, signal.wait(ms)]);
  signal.fire();
}
