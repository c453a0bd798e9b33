// Hands the records of a terminal to another process through a descriptor. What it does not take in
// time waits here, bounded; past the bound output is left out and counted, and the gap is told where
// it was. The terminal never waits for it: each write is made on another thread.

import { write } from "node:fs";
import { encodeDraft, type TerminalDraft } from "../terminal-wire/mod.ts";
import { recordEndMs, recordQueueBytesMax } from "./limits.ts";

export class RecordStream {
  readonly #fd: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #missing: { at: number; bytes: number } | undefined;
  #writing = false;
  /** Whoever kept the records is gone; the terminal goes on without. */
  #broken = false;
  #idle: (() => void) | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  push(draft: TerminalDraft): void {
    if (this.#broken) return;
    const room = this.#bytes < recordQueueBytesMax;
    if (draft.type === "pty.output" && !room) {
      this.#missing ??= { at: draft.at, bytes: 0 };
      this.#missing.bytes += draft.data.length;
      return;
    }
    // Records that are no output are few and small, and always kept.
    this.#tellMissing();
    this.#queue(draft);
    void this.#flush();
  }

  /** Resolves when all is handed over, or was given up. */
  async close(): Promise<void> {
    this.#tellMissing();
    void this.#flush();
    if (!this.#writing) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle = resolve;
    const timer = setTimeout(resolve, recordEndMs);
    await promise;
    clearTimeout(timer);
    this.#broken = true;
  }

  #tellMissing(): void {
    const missing = this.#missing;
    if (missing === undefined) return;
    this.#missing = undefined;
    this.#queue({ type: "gap", ...missing, reason: "overrun" });
  }

  #queue(draft: TerminalDraft): void {
    const bytes = encodeDraft(draft);
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
  }

  async #flush(): Promise<void> {
    if (this.#writing) return;
    this.#writing = true;
    for (let part = this.#parts.shift(); part !== undefined && !this.#broken; ) {
      const taken = await this.#write(part);
      this.#bytes -= taken;
      part = taken < part.length ? part.subarray(taken) : this.#parts.shift();
    }
    this.#writing = false;
    this.#idle?.();
  }

  #write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve) => {
      write(this.#fd, bytes, 0, bytes.length, null, (error, taken) => {
        if (error === null || error === undefined) return resolve(taken);
        if (error.code === "EAGAIN") {
          setTimeout(() => resolve(0), 1);
          return;
        }
        this.#broken = true;
        this.#parts = [];
        resolve(bytes.length);
      });
    });
  }
}
