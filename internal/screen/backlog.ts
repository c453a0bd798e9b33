// Output that was not parsed yet: the newest of it, in one piece of memory. What a flood pushes out
// is only searched for the modes that it sets, because those outlive the picture.

import { backlogBytesMax } from "./limits.ts";

const firstBytes = 64 * 1024;
/** Modes that are remembered from skipped output; a program uses about ten. */
const modesMax = 64;
/** Sequences looked at in one push. A flood of nothing but modes must not cost more than parsing. */
const modesSeenMax = 64;
const modeSequenceBytesMax = 32;
/** A line or a sequence begins within this many bytes, or the cut is made anywhere. */
const alignmentBytesMax = 4_096;

interface ModeChange {
  readonly at: number;
  readonly isOn: boolean;
}

export class Backlog {
  #bytes = Buffer.allocUnsafe(firstBytes);
  #start = 0;
  #end = 0;
  /** How many bytes came before `#start` of all that was ever pushed. */
  #passed = 0;
  #isSkipping = false;
  /** Up to where skipped output was searched, counted like `#passed`. */
  #searched = 0;
  readonly #modes = new Map<number, ModeChange>();
  #resetAt = -1;

  get length(): number {
    return this.#end - this.#start;
  }

  /** More waits than will ever be parsed: from now on the oldest is let go. */
  get isOverrun(): boolean {
    return this.length > backlogBytesMax;
  }

  push(bytes: Uint8Array): void {
    if (bytes.length > 2 * backlogBytesMax) {
      // Only the newest part of so large a piece can be of use.
      this.push(bytes.subarray(0, bytes.length - backlogBytesMax));
      this.push(bytes.subarray(bytes.length - backlogBytesMax));
      return;
    }
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#end);
    this.#end += bytes.length;
    if (this.isOverrun) this.#search();
  }

  /** The next bytes to parse, at most `max`; valid until the next push. */
  take(max: number): Uint8Array {
    const taken = this.#bytes.subarray(this.#start, Math.min(this.#end, this.#start + max));
    this.#drop(taken.length);
    if (this.#start === this.#end) {
      this.#start = 0;
      this.#end = 0;
    }
    return taken;
  }

  /**
   * Lets go of what is more than the newest bytes and gives back what a parser has to be told in
   * its place, or undefined where nothing was let go.
   */
  skip(): Uint8Array | undefined {
    if (!this.#isSkipping && !this.isOverrun) return undefined;
    this.#search();
    this.#drop(Math.max(0, this.length - backlogBytesMax));
    this.#align();
    const start = this.#passed;
    let text = this.#resetAt >= 0 && this.#resetAt < start ? "\x1bc" : "";
    for (const [mode, { at, isOn }] of this.#modes) {
      if (at < start) text += `\x1b[?${mode}${isOn ? "h" : "l"}`;
    }
    this.#modes.clear();
    this.#resetAt = -1;
    this.#isSkipping = false;
    // A sequence that was cut is called off, and the pen is the one that most output begins with.
    return Buffer.from(`\x18${text}\x0f\x1b(B\x1b[m`);
  }

  #drop(count: number): void {
    this.#start += count;
    this.#passed += count;
  }

  #makeRoom(count: number): void {
    if (this.#end + count <= this.#bytes.length) return;
    if (this.length + count > 2 * backlogBytesMax) {
      this.#search();
      this.#isSkipping = true;
      this.#drop(Math.min(this.length, this.length + count - backlogBytesMax));
    }
    const needed = this.length + count;
    let size = this.#bytes.length;
    while (size < needed) size *= 2;
    const target = size === this.#bytes.length ? this.#bytes : Buffer.allocUnsafe(size);
    this.#bytes.copy(target, 0, this.#start, this.#end);
    this.#bytes = target;
    this.#end -= this.#start;
    this.#start = 0;
  }

  /** Looks through what was not looked through yet, in native searches. */
  #search(): void {
    const from = Math.max(this.#start, this.#searched - this.#passed + this.#start);
    // A sequence may have been cut by the end of an earlier push.
    const first = Math.max(this.#start, from - modeSequenceBytesMax);
    const text = this.#bytes.subarray(first, this.#end);
    this.#searched = this.#passed + this.length;
    const base = this.#passed + first - this.#start;
    const reset = text.lastIndexOf("\x1bc");
    if (reset >= 0) {
      this.#resetAt = base + reset;
      for (const [mode, { at }] of this.#modes) if (at < this.#resetAt) this.#modes.delete(mode);
    }
    let at = text.indexOf("\x1b[?");
    for (let seen = 0; at >= 0 && seen < modesSeenMax; seen++) {
      if (base + at > this.#resetAt) this.#note(text, at, base);
      at = text.indexOf("\x1b[?", at + 3);
    }
  }

  #note(text: Buffer, at: number, base: number): void {
    const sequence = text.toString("latin1", at, at + modeSequenceBytesMax);
    const found = /^\x1b\[\?([\d;]+)([hl])/.exec(sequence);
    if (found === null) return;
    for (const mode of found[1]?.split(";") ?? []) {
      this.#modes.delete(Number(mode));
      if (this.#modes.size < modesMax) {
        this.#modes.set(Number(mode), { at: base + at, isOn: found[2] === "h" });
      }
    }
  }

  /** Begins at a line or a sequence, so that no half of one is shown as text. */
  #align(): void {
    const head = this.#bytes.subarray(
      this.#start,
      Math.min(this.#end, this.#start + alignmentBytesMax),
    );
    const line = head.indexOf(0x0a);
    const introducer = head.indexOf(0x1b);
    const cuts = [
      line === -1 ? head.length : line + 1,
      introducer === -1 ? head.length : introducer,
    ];
    const cut = Math.min(...cuts);
    if (cut < head.length) this.#drop(cut);
  }
}
