// What is printed when it is nobody's turn: by programs that a call left running, and by the host for
// the person. It is shown in whole lines, and kept within a bound until it can be.

/** Bytes that wait to be shown, and of one line. Past it the oldest are dropped. */
const waitingBytesMax = 64 * 1024;

export class LateLines {
  /** False when now is not the time. */
  readonly #print: (text: string) => boolean;
  readonly #decoder = new TextDecoder();
  #waiting = "";
  /** The start of a line whose end has not come. */
  #open = "";

  constructor(print: (text: string) => boolean) {
    this.#print = print;
  }

  push(bytes: Uint8Array): void {
    const text = this.#open + this.#decoder.decode(bytes, { stream: true });
    const cut = text.lastIndexOf("\n") + 1;
    this.#open = text.slice(cut).slice(-waitingBytesMax);
    if (cut > 0) this.add(text.slice(0, cut));
  }

  /** Whole lines. */
  add(lines: string): void {
    const all = this.#waiting + lines;
    const from = Math.max(0, all.length - waitingBytesMax);
    // What is left begins with a whole line.
    this.#waiting = from === 0 ? all : all.slice(all.indexOf("\n", from) + 1);
    this.flush();
  }

  flush(): void {
    if (this.#waiting === "" || !this.#print(this.#waiting)) return;
    this.#waiting = "";
  }
}
