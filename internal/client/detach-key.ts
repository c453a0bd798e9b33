// The keys by which a person leaves a terminal without ending it, and how they are found in what is
// typed. Pure: bytes in, bytes to pass on out. A key is known by the byte that it always was and by what
// terminals send for it that report keys in full, so a program inside that asked for such reports
// does not lock the person in.

import { fail } from "../abi/mod.ts";

/** Keys that leave, in order, each a byte. None: nothing leaves but the other side. */
export type DetachKeys = readonly number[];

/** Ctrl-\ twice. */
export const defaultDetachKeys = "ctrl-\\ ctrl-\\";

/** Keys of one sequence. */
const keysMax = 4;

/** How long a first key waits for the next before it is passed on after all, in milliseconds. */
export const detachWaitMs = 600;

/** `ctrl-\ ctrl-\`, `^A d`, `C-b,d` or `none`. Throws EINVAL. */
export function detachKeys(text: string): DetachKeys {
  if (text === "none") return [];
  const keys = text.split(/[\s,]+/).filter((word) => word !== "");
  if (keys.length > 0 && keys.length <= keysMax) return keys.map(keyOf);
  return fail("EINVAL", `detach key ${JSON.stringify(text)} is not 1 to ${keysMax} keys`, { hint });
}

const hint = 'write for example "ctrl-\\ ctrl-\\", "^A d" or none';

function keyOf(word: string): number {
  const control = /^(?:\^|ctrl-|c-)(.)$/i.exec(word)?.[1];
  const code = (control ?? word).toUpperCase().charCodeAt(0);
  if (control !== undefined && code >= 0x40 && code <= 0x5f) return code & 0x1f;
  if (control === undefined && /^[!-~]$/.test(word)) return word.charCodeAt(0);
  return fail("EINVAL", `detach key ${JSON.stringify(word)} is not a key`, { hint });
}

export interface Typed {
  /** What is to be passed on, the held keys before it included. */
  readonly bytes: Uint8Array;
  readonly leave: boolean;
}

/** Watches what is typed for the keys. A started sequence is held back until it is one or is none. */
export class DetachWatch {
  #keys: readonly Uint8Array[][];
  #held: Uint8Array[] = [];

  constructor(keys: DetachKeys) {
    this.#keys = keys.map(forms);
  }

  /** Whether keys are held back; the caller lets them go by `release` after a while. */
  get holding(): boolean {
    return this.#held.length > 0;
  }

  push(chunk: Uint8Array): Typed {
    const passed: Uint8Array[] = [];
    let rest = chunk;
    while (rest.length > 0 && this.#keys.length > 0) {
      const wanted = matched(this.#keys[this.#held.length] ?? [], rest);
      if (wanted !== undefined) {
        this.#held.push(wanted);
        rest = rest.subarray(wanted.length);
        if (this.#held.length < this.#keys.length) continue;
        this.#held = [];
        return { bytes: joined(passed), leave: true };
      }
      // The first held key was none; the ones behind it may start the sequence anew.
      const [first = rest.subarray(0, 1), ...again] = this.#held;
      rest = this.#held.length > 0 ? joined([...again, rest]) : rest.subarray(1);
      this.#held = [];
      passed.push(first);
    }
    passed.push(rest);
    return { bytes: joined(passed), leave: false };
  }

  release(): Uint8Array {
    const held = joined(this.#held);
    this.#held = [];
    return held;
  }
}

/** What terminals send for a key: its byte, and the forms of the kitty and the xterm protocol. */
function forms(key: number): Uint8Array[] {
  const encoder = new TextEncoder();
  const alone = Uint8Array.of(key);
  if (key >= 0x20) return [alone];
  const plain = String.fromCharCode(key | 0x40)
    .toLowerCase()
    .charCodeAt(0);
  const reported = [`[${plain};5u`, `[${plain};5:1u`, `[27;5;${plain}~`];
  // The release of a key that was pressed counts with its press.
  const all = reported.flatMap((form) => [`${form}\x1b[${plain};5:3u`, form]);
  return [alone, ...all.map((form) => encoder.encode(`\x1b${form}`))];
}

function matched(keyForms: readonly Uint8Array[], chunk: Uint8Array): Uint8Array | undefined {
  return keyForms.find(
    (form) => form.length <= chunk.length && form.every((byte, index) => chunk[index] === byte),
  );
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
