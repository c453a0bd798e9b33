// What a program prints, kept within bounds: the first and the last half of `toolOutputBytesMax`,
// and how much fell out between them.

import { toolOutputBytesMax } from "../abi/mod.ts";

export class OutputWindow {
  readonly #half: number;
  #head: Uint8Array[] = [];
  #headBytes = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #dropped = 0;

  constructor(bytesMax: number = toolOutputBytesMax) {
    this.#half = Math.floor(bytesMax / 2);
  }

  push(chunk: Uint8Array): void {
    const room = Math.min(this.#half - this.#headBytes, chunk.length);
    if (room > 0) {
      this.#head.push(chunk.slice(0, room));
      this.#headBytes += room;
    }
    if (room === chunk.length) return;
    this.#tail.push(chunk.slice(room));
    this.#tailBytes += chunk.length - room;
    this.#trim();
  }

  /** Bytes that whoever read the stream has left out: nothing before them is part of its end. */
  skip(bytes: number): void {
    if (bytes === 0) return;
    this.#dropped += bytes + this.#tailBytes;
    this.#headBytes = this.#half;
    this.#tail = [];
    this.#tailBytes = 0;
  }

  #trim(): void {
    while (this.#tailBytes > this.#half) {
      const first = this.#tail[0] as Uint8Array;
      const excess = Math.min(this.#tailBytes - this.#half, first.length);
      if (excess === first.length) this.#tail.shift();
      else this.#tail[0] = first.subarray(excess);
      this.#tailBytes -= excess;
      this.#dropped += excess;
    }
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Invalid bytes become U+FFFD; a cut is marked in the text. */
  text(): string {
    const decode = (chunks: readonly Uint8Array[]) => new TextDecoder().decode(joined(chunks));
    if (this.#dropped === 0) return decode([...this.#head, ...this.#tail]);
    const mark = `\n[${this.#dropped} bytes dropped here]\n`;
    return decode(this.#head) + mark + decode(this.#tail);
  }
}

/** What a step writes to standard error is kept to its last bytes; the rest is dropped. */
export const stepStderrBytesMax = 16 * 1024;

/** The last bytes of a stream. */
export class OutputTail {
  readonly #bytesMax: number;
  #kept = Buffer.alloc(0);
  #dropped = false;

  constructor(bytesMax: number = stepStderrBytesMax) {
    this.#bytesMax = bytesMax;
  }

  push(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#kept, chunk.subarray(-this.#bytesMax)]);
    this.#dropped ||= this.#kept.length + chunk.length > this.#bytesMax;
    this.#kept = all.subarray(-this.#bytesMax);
  }

  /** Begins with a whole character; invalid bytes become U+FFFD. */
  text(): string {
    let start = 0;
    // A cut leaves at most three bytes of a character that began before it.
    while (this.#dropped && start < 3 && ((this.#kept[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return new TextDecoder().decode(this.#kept.subarray(start));
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

/** Reads a stream to its end into `window` and hands on its text, whole characters at a time. */
export async function drain(
  stream: AsyncIterable<Uint8Array>,
  window: Pick<OutputWindow, "push">,
  onText: ((text: string) => void) | undefined,
): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    window.push(chunk);
    const text = onText && decoder.decode(chunk, { stream: true });
    if (text) onText?.(text);
  }
  const rest = decoder.decode();
  if (rest) onText?.(rest);
}
