// Turns the records of a terminal into asciicast v2 (https://docs.asciinema.org/manual/asciicast/v2/):
// a header line, then one line an event. Text there is UTF-8, so a character that was split between
// two records is carried; bytes that are no text become U+FFFD.

import { outputBytes, type TerminalRecord } from "./records.ts";

/** Size that is assumed when output comes before any size. */
const fallback = { cols: 80, rows: 24 };

export class AsciicastWriter {
  #title: string | undefined;
  #begun: number | undefined;
  #size = fallback;
  #decoder = new TextDecoder();
  #lastSeconds = 0;

  constructor(options: { readonly title?: string } = {}) {
    this.#title = options.title;
  }

  /** The lines that a record adds, each with its newline. */
  push(record: TerminalRecord): string[] {
    const at = Date.parse(record.ts);
    const lines: string[] = [];
    if (this.#begun === undefined) {
      if (record.type === "pty.resize") this.#size = { cols: record.cols, rows: record.rows };
      this.#begun = at;
      lines.push(this.#header());
      if (record.type === "pty.resize") return lines;
    }
    // A clock that was set back must not make a player wait or refuse.
    this.#lastSeconds = Math.max(this.#lastSeconds, (at - this.#begun) / 1000);
    if (record.type === "pty.output") {
      const text = this.#decoder.decode(outputBytes(record), { stream: true });
      if (text !== "") lines.push(this.#event("o", text));
    } else if (record.type === "pty.resize") {
      this.#size = { cols: record.cols, rows: record.rows };
      lines.push(this.#event("r", `${record.cols}x${record.rows}`));
    } else if (record.type === "gap") {
      lines.push(...this.#flush(), this.#event("m", `${record.bytes} bytes are missing`));
    } else {
      lines.push(...this.#flush(), this.#event("m", `exit status ${record.status}`));
    }
    return lines;
  }

  /** What is left, and the header when there was no record at all. */
  end(): string[] {
    if (this.#begun !== undefined) return this.#flush();
    this.#begun = 0;
    return [this.#header()];
  }

  #header(): string {
    const timestamp = Math.floor((this.#begun ?? 0) / 1000);
    const title = this.#title === undefined ? {} : { title: this.#title };
    const { cols: width, rows: height } = this.#size;
    return `${JSON.stringify({ version: 2, width, height, timestamp, ...title })}\n`;
  }

  #event(kind: "o" | "r" | "m", text: string): string {
    return `${JSON.stringify([Number(this.#lastSeconds.toFixed(3)), kind, text])}\n`;
  }

  #flush(): string[] {
    const text = this.#decoder.decode();
    return text === "" ? [] : [this.#event("o", text)];
  }
}

export function* asciicastLines(
  records: Iterable<TerminalRecord>,
  options: { readonly title?: string } = {},
): Generator<string> {
  const writer = new AsciicastWriter(options);
  for (const record of records) yield* writer.push(record);
  yield* writer.end();
}
