// Cuts a server's output into lines as bytes. Unlike our own wires a bad line is no end here: servers
// write log lines to the same stream. Only a line past the bound is, because it may never end.

/** What is kept allocated between two lines. */
const idleBytesMax = 64 * 1024;

const lineFeed = 0x0a;

export class LineCutter {
  private readonly bytesMax: number;
  private partial = new Uint8Array(0);
  private length = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /**
   * Gives each whole line of what came so far to `take`, without its LF; the bytes are good during the
   * call. False for a line past the bound, after which nothing more may be pushed.
   */
  push(chunk: Uint8Array, take: (line: Uint8Array) => void): boolean {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      const piece = chunk.subarray(start, end);
      if (this.length + piece.length > this.bytesMax) return false;
      start = end + 1;
      if (this.length === 0) {
        take(piece);
        continue;
      }
      this.keep(piece);
      const line = this.partial.subarray(0, this.length);
      this.forget();
      take(line);
    }
    const rest = chunk.subarray(start);
    if (this.length + rest.length > this.bytesMax) return false;
    if (rest.length > 0) this.keep(rest);
    return true;
  }

  /** What came after the last LF; empty when nothing did. */
  rest(): Uint8Array {
    const line = this.partial.subarray(0, this.length);
    this.forget();
    return line;
  }

  private forget(): void {
    this.length = 0;
    if (this.partial.length > idleBytesMax) this.partial = new Uint8Array(0);
  }

  private keep(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.partial.length) {
      const doubled = Math.max(1024, this.partial.length * 2, needed);
      const grown = new Uint8Array(Math.min(doubled, Math.max(this.bytesMax, needed)));
      grown.set(this.partial.subarray(0, this.length));
      this.partial = grown;
    }
    this.partial.set(bytes, this.length);
    this.length = needed;
  }
}
