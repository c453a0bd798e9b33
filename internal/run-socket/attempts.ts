// What a run has asked so far: each id once, and a bounded number in all. A terminal has no end that
// its number could be bounded by: of it the latest ids are remembered, and who is far behind them may
// ask again, which harms nobody: a question, an offer or a word about what is loaded says the same twice.

import { fail } from "../abi/mod.ts";
import { runAttemptsMax, runRequestsAtOnceMax } from "./bounds.ts";

export class Attempts {
  readonly #ids = new Set<string>();
  readonly #endless: boolean;
  #count = 0;
  #serving = 0;

  constructor(of: "run" | "terminal" = "run") {
    this.#endless = of === "terminal";
  }

  /** One more line or connection. Throws `busy` past the bound. */
  count(): void {
    this.#count += 1;
    if (this.#endless || this.#count <= runAttemptsMax) return;
    fail("busy", `this run has asked ${runAttemptsMax} times, which is all it may`);
  }

  /** Uses an id up, whatever comes of the request. Throws EALREADY. */
  consume(id: string): void {
    if (this.#ids.has(id)) fail("EALREADY", `request id ${JSON.stringify(id)} was used before`);
    this.#ids.add(id);
    if (!this.#endless || this.#ids.size <= runAttemptsMax) return;
    const [oldest] = this.#ids;
    if (oldest !== undefined) this.#ids.delete(oldest);
  }

  /** Runs the work as one of at most `runRequestsAtOnceMax`. Throws `busy`. */
  async serve<T>(work: () => Promise<T>): Promise<T> {
    if (this.#serving >= runRequestsAtOnceMax) {
      fail("busy", `${runRequestsAtOnceMax} requests of this run are being served`);
    }
    this.#serving += 1;
    try {
      return await work();
    } finally {
      this.#serving -= 1;
    }
  }
}
