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
