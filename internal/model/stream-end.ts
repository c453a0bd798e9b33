// Finds the line that ends a streamed answer, `data: [DONE]`, in bytes as they arrive. Some servers
// keep the connection open after it, and an answer that is over must not wait for them. Pure.

const mark = new TextEncoder().encode("data:[DONE]");
const space = 0x20;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

export class StreamEnd {
  /** Bytes of the mark that this line began with; -1 once the line is another one. */
  #matched = 0;

  /** How many of these bytes belong to the answer; undefined while it goes on. */
  push(bytes: Uint8Array): number | undefined {
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index];
      if (byte === lineFeed || byte === carriageReturn) {
        if (this.#matched === mark.length) return index + 1;
        this.#matched = 0;
        continue;
      }
      if (this.#matched < 0) {
        // Another line: on to its end.
        const end = bytes.indexOf(lineFeed, index);
        if (end < 0) return undefined;
        index = end - 1;
        continue;
      }
      if (byte === space && this.#matched === "data:".length) continue;
      this.#matched = byte === mark[this.#matched] ? this.#matched + 1 : -1;
    }
    return undefined;
  }
}
