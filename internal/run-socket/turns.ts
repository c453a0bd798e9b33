// Whose line is judged next, when many wait. To judge one takes some reading of /proc and of files, all
// of it on the server's one thread: without an order of turns a program that writes thousands of lines
// at once would be the only one that is served, of everything that the server does.

/** Milliseconds of one turn of the event loop in which lines are judged as they come. */
export const turnMs = 4;

/** One for all runs of a server. Runs take turns, however many lines and connections each has. */
export class Turns {
  readonly #waiting = new Map<object, (() => void)[]>();
  #begun: number | undefined;

  /** Undefined when it is the turn of one of `run` now; else resolves when it is. */
  take(run: object): Promise<void> | undefined {
    if (this.#begun === undefined) this.#begin();
    else if (this.#waiting.size > 0 || performance.now() - this.#begun >= turnMs) {
      return new Promise((resolve) => {
        const others = this.#waiting.get(run);
        if (others === undefined) this.#waiting.set(run, [resolve]);
        else others.push(resolve);
      });
    }
    return undefined;
  }

  #begin(): void {
    this.#begun = performance.now();
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#begun = undefined;
    const first = this.#waiting.entries().next().value;
    if (first === undefined) return;
    const [run, [resolve, ...rest]] = first;
    this.#waiting.delete(run);
    if (rest.length > 0) this.#waiting.set(run, rest);
    this.#begin();
    resolve?.();
  }
}
