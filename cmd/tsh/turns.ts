// Who has the terminal: a person's command or a call of the agent, one at a time, in the order in which
// they came.

export class Turns {
  #taken = false;
  readonly #waiting: (() => void)[] = [];

  /** How many turns there were; two looks tell whether somebody had one in between. */
  count = 0;

  get isTaken(): boolean {
    return this.#taken;
  }

  /** Resolves with true when it is the caller's turn; with false when `signal` came first. */
  async take(signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted) return false;
    if (!this.#taken) {
      this.#taken = true;
      this.count += 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const turn = () => resolve(true);
    const stop = () => {
      const at = this.#waiting.indexOf(turn);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      resolve(false);
    };
    this.#waiting.push(turn);
    signal?.addEventListener("abort", stop);
    const mine = await promise;
    signal?.removeEventListener("abort", stop);
    return mine;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken = false;
    else {
      this.count += 1;
      next();
    }
  }
}
