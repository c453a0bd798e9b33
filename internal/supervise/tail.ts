// The last of what a program says on standard error.

/** Past it the beginning is dropped. */
const tailCharsMax = 2048;

export class Tail {
  #text = "";

  async read(stream: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of stream) {
      this.#text = (this.#text + decoder.decode(bytes, { stream: true })).slice(-tailCharsMax);
    }
  }

  text(): string {
    return this.#text.trim();
  }
}
