// Line framing of every JSON wire: bytes in, whole UTF-8 lines out. The bound holds while bytes
// arrive, before anything is decoded or parsed, so a peer cannot make us keep more than one line.
// A line ends in LF and nothing else: CR and NUL are ordinary bytes here, and whatever reads the
// line refuses them by its own grammar. After the first failure the decoder is silent for good.

export type LineResult =
  | { readonly ok: true; readonly line: string }
  | { readonly ok: false; readonly code: "EMSGSIZE" | "EINVAL"; readonly reason: string };

/** Bytes that an idle decoder keeps allocated for the next unfinished line. */
const idleBytesMax = 64 * 1024;

/** First allocation for an unfinished line; it doubles from here up to the bound. */
const firstBytes = 1024;

const lineFeed = 0x0a;

export class LineDecoder {
  private readonly bytesMax: number;
  private readonly decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  private partial = new Uint8Array(0);
  private length = 0;
  private over = false;

  /** `bytesMax` counts the whole line with its LF. */
  constructor(bytesMax: number) {
    if (!Number.isSafeInteger(bytesMax) || bytesMax < 1) {
      throw new RangeError(`line bound ${bytesMax} is not a positive whole number`);
    }
    this.bytesMax = bytesMax;
  }

  /** The lines that `chunk` completes, in order; a failure is the last result there ever is. */
  push(chunk: Uint8Array): LineResult[] {
    const results: LineResult[] = [];
    let start = 0;
    while (!this.over) {
      const end = chunk.indexOf(lineFeed, start);
      const stop = end < 0 ? chunk.length : end;
      // Without its LF a line of bytesMax bytes can no longer become one that fits.
      if (this.length + (stop - start) >= this.bytesMax) {
        results.push(this.refuse("EMSGSIZE", `line is longer than ${this.bytesMax} bytes`));
        break;
      }
      if (end < 0) {
        this.keep(chunk.subarray(start));
        break;
      }
      results.push(this.finish(chunk.subarray(start, end)));
      start = end + 1;
    }
    return results;
  }

  /** The peer closed its side: an unfinished last line is EINVAL. */
  end(): LineResult[] {
    if (this.over) return [];
    const unfinished = this.length > 0;
    const failure = this.refuse("EINVAL", "last line does not end in a newline");
    return unfinished ? [failure] : [];
  }

  private finish(rest: Uint8Array): LineResult {
    let bytes = rest;
    if (this.length > 0) {
      this.keep(rest);
      bytes = this.partial.subarray(0, this.length);
    }
    try {
      return { ok: true, line: this.decoder.decode(bytes) };
    } catch {
      return this.refuse("EINVAL", "line is not valid UTF-8");
    } finally {
      this.length = 0;
      if (this.partial.length > idleBytesMax) this.partial = new Uint8Array(0);
    }
  }

  private keep(bytes: Uint8Array): void {
    const needed = this.length + bytes.length;
    if (needed > this.partial.length) {
      const doubled = Math.max(firstBytes, this.partial.length * 2, needed);
      const grown = new Uint8Array(Math.min(doubled, Math.max(this.bytesMax, needed)));
      grown.set(this.partial.subarray(0, this.length));
      this.partial = grown;
    }
    this.partial.set(bytes, this.length);
    this.length = needed;
  }

  private refuse(code: "EMSGSIZE" | "EINVAL", reason: string): LineResult {
    this.over = true;
    this.length = 0;
    this.partial = new Uint8Array(0);
    return { ok: false, code, reason };
  }
}
