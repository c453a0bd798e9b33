// Live frames of one session: deltas that are never recorded. One ring serves all readers, so a
// thousand slow ones cost no more than one; a reader that falls behind finds the oldest gone.

import type { OpFrame } from "../interaction/mod.ts";
import { liveBytesMax } from "./bounds.ts";

export interface LiveFrame {
  /** The last durable record before it. */
  readonly after: number;
  readonly run: string;
  readonly frame: OpFrame;
  readonly bytes: number;
}

/** What a frame weighs beside its text. */
const frameBytes = 128;

export class LiveRing {
  #frames: LiveFrame[] = [];
  /** Number of the first frame that is kept; numbers only grow. */
  #first = 0;
  #bytes = 0;

  push(after: number, run: string, text: string, frame: OpFrame): void {
    const bytes = text.length * 2 + frameBytes;
    this.#frames.push({ after, run, frame, bytes });
    this.#bytes += bytes;
    let dropped = 0;
    while (this.#bytes > liveBytesMax) {
      this.#bytes -= this.#frames[dropped]?.bytes ?? 0;
      dropped += 1;
    }
    if (dropped > 0) {
      this.#frames.splice(0, dropped);
      this.#first += dropped;
    }
  }

  /** The frame with this number or the oldest later one; undefined at the end. */
  at(number: number): { readonly number: number; readonly live: LiveFrame } | undefined {
    const found = Math.max(number, this.#first);
    const live = this.#frames[found - this.#first];
    return live === undefined ? undefined : { number: found, live };
  }

  clear(): void {
    this.#first += this.#frames.length;
    this.#frames = [];
    this.#bytes = 0;
  }

  get bytes(): number {
    return this.#bytes;
  }
}
