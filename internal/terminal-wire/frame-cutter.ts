// Framing by length: one byte of type, a big-endian u32, the payload. The bound holds before a
// payload is collected. Shared by the connections of clients and the stream of records.

/** Bytes in front of a payload. */
export const frameHeaderBytes = 5;

/** Cuts a stream into type and payload. After the first failure it yields nothing more. */
export class FrameCutter {
  readonly #bytesMax: number;
  #kept = new Uint8Array(0);
  #length = 0;
  #failed = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Payloads share memory with the chunks, and with nothing that is written to later. */
  *push(chunk: Uint8Array): Generator<{ type: number; payload: Uint8Array } | { reason: string }> {
    let bytes = chunk;
    if (this.#length > 0) {
      this.#keep(chunk);
      bytes = this.#kept.subarray(0, this.#length);
    }
    let at = 0;
    while (!this.#failed && bytes.length - at >= frameHeaderBytes) {
      const view = new DataView(bytes.buffer, bytes.byteOffset + at);
      const length = view.getUint32(1);
      if (length > this.#bytesMax) {
        yield { reason: `frame of ${length} bytes is longer than ${this.#bytesMax}` };
        this.#failed = true;
        break;
      }
      const end = at + frameHeaderBytes + length;
      if (bytes.length < end) break;
      const payload = bytes.subarray(at + frameHeaderBytes, end);
      at = end;
      yield { type: view.getUint8(0), payload };
    }
    this.#rest(this.#failed ? bytes.subarray(bytes.length) : bytes.subarray(at));
  }

  fail(): void {
    this.#failed = true;
  }

  #rest(bytes: Uint8Array): void {
    if (bytes.length === this.#length && this.#length > 0) return;
    this.#kept = bytes.slice();
    this.#length = bytes.length;
  }

  #keep(bytes: Uint8Array): void {
    const needed = this.#length + bytes.length;
    if (needed > this.#kept.length) {
      const grown = new Uint8Array(Math.max(needed, this.#kept.length * 2));
      grown.set(this.#kept.subarray(0, this.#length));
      this.#kept = grown;
    }
    this.#kept.set(bytes, this.#length);
    this.#length = needed;
  }
}
