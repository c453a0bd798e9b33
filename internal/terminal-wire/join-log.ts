// The output since somebody began to wait for a snapshot, by its position in the stream: what a client
// gets after the snapshot is what came after the position that the snapshot stands for.

export class JoinLog {
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #position = 0;
  keeping = false;

  /** Bytes of output so far. */
  get position(): number {
    return this.#position;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(part: Uint8Array): void {
    this.#position += part.length;
    if (!this.keeping) return;
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  /** What was put out from this position on. */
  after(position: number): Uint8Array[] {
    let skip = Math.max(this.#bytes - (this.#position - position), 0);
    const parts: Uint8Array[] = [];
    for (const part of this.#parts) {
      if (skip < part.length) parts.push(skip > 0 ? part.subarray(skip) : part);
      skip = Math.max(skip - part.length, 0);
    }
    return parts;
  }

  /** Keeps from now on what is there after the position, or nothing. */
  cutTo(position: number): void {
    this.#parts = this.after(position);
    this.#bytes = Math.max(this.#position - position, 0);
  }
}
