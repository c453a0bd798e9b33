// What waits for one client: parts in order, with the count of their bytes and the clock of its
// reading. The parts belong to the stream and are shared with other clients; nothing copies them.

import {
  clientPaceBytes,
  clientPaceIdleMs,
  clientPaceRateMin,
  clientPaceWindowMs,
} from "./client-limits.ts";

export class ClientQueue {
  #parts: Uint8Array[] = [];
  #first = 0;
  #offset = 0;
  #bytes = 0;
  /** Since when nothing was taken of what waits. */
  #idleSinceMs = 0;
  #windowMs = 0;
  #windowBytes = 0;
  /** Until a whole window was seen the reader has the benefit of the doubt. */
  #rate = Number.POSITIVE_INFINITY;

  get bytes(): number {
    return this.#bytes;
  }

  push(part: Uint8Array, nowMs: number): void {
    if (part.length === 0) return;
    if (this.#bytes === 0) {
      this.#idleSinceMs = nowMs;
      this.#windowMs = nowMs;
      this.#windowBytes = 0;
      this.#rate = Number.POSITIVE_INFINITY;
    }
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** The next bytes to write. */
  head(): Uint8Array | undefined {
    const part = this.#parts[this.#first];
    return this.#offset === 0 ? part : part?.subarray(this.#offset);
  }

  taken(bytes: number, nowMs: number): void {
    if (bytes <= 0) return;
    this.#bytes -= bytes;
    this.#offset += bytes;
    this.#idleSinceMs = nowMs;
    this.#windowBytes += bytes;
    const span = nowMs - this.#windowMs;
    if (span >= clientPaceWindowMs) {
      this.#rate = (this.#windowBytes * 1000) / span;
      this.#windowMs = nowMs;
      this.#windowBytes = 0;
    }
    for (let part = this.#parts[this.#first]; part !== undefined; ) {
      if (this.#offset < part.length) break;
      this.#offset -= part.length;
      this.#parts[this.#first++] = empty;
      part = this.#parts[this.#first];
    }
    if (this.#first < 64 && this.#bytes > 0) return;
    this.#parts = this.#parts.slice(this.#first);
    this.#first = 0;
  }

  /** How long nothing was taken while something waited. */
  idleMs(nowMs: number): number {
    return this.#bytes === 0 ? 0 : nowMs - this.#idleSinceMs;
  }

  /** Whether the stream should wait for this reader: it lags, and it reads. */
  wantsPace(nowMs: number): boolean {
    if (this.#bytes < clientPaceBytes) return false;
    return this.idleMs(nowMs) < clientPaceIdleMs && this.#rate >= clientPaceRateMin;
  }

  /** Keeps the part that was begun, since a frame must end where it says, and forgets the rest. */
  cut(): void {
    const begun = this.#offset === 0 ? [] : this.#parts.slice(this.#first, this.#first + 1);
    this.#parts = begun;
    this.#first = 0;
    this.#bytes = (begun[0]?.length ?? 0) - this.#offset;
    if (begun.length === 0) this.#bytes = 0;
  }

  clear(): void {
    this.#parts = [];
    this.#first = 0;
    this.#offset = 0;
    this.#bytes = 0;
  }
}

const empty = new Uint8Array(0);
