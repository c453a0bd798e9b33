// The bytes of a control sequence or a character whose rest has not come yet. A snapshot ends with
// them, so that a joiner's terminal goes on exactly where ours is.

import type { Core } from "./internals.ts";
import { controlStringBytesMax } from "./limits.ts";

/** States of the emulator's parser (its common/parser/Constants.ts). */
const ground = 0;
const lastBeforeStrings = 6;
const operatingSystemString = 8;
const deviceStringPassed = 13;

export class Unfinished {
  readonly #core: Core;
  #bytes: Uint8Array = new Uint8Array();
  /** A control string was too long to keep; its rest is swallowed here and at the joiner. */
  #isCut = false;

  constructor(core: Core) {
    this.#core = core;
  }

  /** To be called after each slice with what was parsed. */
  follow(slice: Uint8Array): void {
    const state = this.#core._inputHandler._parser.currentState;
    if (state === ground) {
      this.#isCut = false;
      const { interim } = this.#core._inputHandler._utf8Decoder;
      const length = interim.indexOf(0);
      this.#bytes = interim.slice(0, length === -1 ? interim.length : length);
      return;
    }
    const start = lastIntroducer(slice);
    const before = start === -1 ? this.#bytes : new Uint8Array();
    if (start !== -1) this.#isCut = false;
    if (this.#isCut) return;
    const length = before.length + slice.length - Math.max(start, 0);
    if (length > controlStringBytesMax)
      this.#cut(state, before, slice.subarray(Math.max(start, 0)));
    else this.#bytes = joined(before, slice.subarray(Math.max(start, 0)));
  }

  /** What a joiner gets last. Controls inside a sequence took effect when they came. */
  tail(): Uint8Array {
    const state = this.#core._inputHandler._parser.currentState;
    if (state === ground || state > lastBeforeStrings) return this.#bytes;
    return this.#bytes.filter((byte) => byte >= 0x20 || byte === 0x1b);
  }

  /** From here on the string means nothing, to us and to a joiner, up to its end. */
  #cut(state: number, before: Uint8Array, slice: Uint8Array): void {
    const { _oscParser, _dcsParser } = this.#core._inputHandler._parser;
    if (state === operatingSystemString) _oscParser._active = [];
    if (state === deviceStringPassed) _dcsParser._active = [];
    this.#isCut = true;
    const start = joined(before, slice.subarray(0, 2));
    const kind = start[0] === 0x1b ? start[1] : (start[1] ?? 0) - 0x40;
    // An unknown number and an unknown final byte: every terminal ignores such a string.
    this.#bytes = Buffer.from(
      kind === 0x5d
        ? "\x1b]7770;"
        : kind === 0x50
          ? "\x1bP0z"
          : `\x1b${String.fromCharCode(kind ?? 0x5f)}`,
    );
  }
}

/** ESC begins anew whatever came before it, and so do the single characters for CSI, OSC, ... */
function lastIntroducer(slice: Uint8Array): number {
  let found = slice.lastIndexOf(0x1b);
  for (let i = slice.lastIndexOf(0xc2); i > found; i = slice.lastIndexOf(0xc2, i - 1)) {
    if ([0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f].includes(slice[i + 1] ?? 0)) found = i;
    if (i === 0) break;
  }
  return found;
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}
