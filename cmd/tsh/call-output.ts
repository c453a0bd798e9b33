// What one stream of a call printed, on its way to the host: the first half of the bound as it comes,
// the last half at the end, and how much fell out between them.

/** Bytes that go in one line; base64 makes four of three. */
const partBytesMax = 256 * 1024;

type Send = (data: Uint8Array, dropped: number) => Promise<void> | undefined;

export class CallOutput {
  readonly #half: number;
  readonly #send: Send;
  #sent = 0;
  #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #dropped = 0;

  constructor(bytesMax: number, send: Send) {
    this.#half = Math.floor(bytesMax / 2);
    this.#send = send;
  }

  /** Resolves when the host has room for more. */
  async push(chunk: Uint8Array): Promise<void> {
    const head = chunk.subarray(0, Math.max(0, this.#half - this.#sent));
    this.#sent += head.length;
    await this.#parts(head, 0);
    const rest = chunk.slice(head.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= this.#half) {
      const gone = this.#tail.shift()?.length ?? 0;
      this.#tailBytes -= gone;
      this.#dropped += gone;
    }
  }

  async end(): Promise<void> {
    const tail = this.#tail;
    this.#tail = [];
    let dropped = this.#dropped;
    for (const chunk of tail) {
      await this.#parts(chunk, dropped);
      dropped = 0;
    }
  }

  async #parts(bytes: Uint8Array, droppedBefore: number): Promise<void> {
    for (let at = 0; at < bytes.length; at += partBytesMax) {
      await this.#send(bytes.subarray(at, at + partBytesMax), at === 0 ? droppedBefore : 0);
    }
  }
}
