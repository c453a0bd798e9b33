// How a client of a terminal begins: one short line that says what it wants and in which form. The
// bound holds while bytes arrive; what follows the line belongs to the form that it named.

/** Bytes of the first line with its newline. Past it EINVAL, whatever it would have said. */
export const firstLineBytesMax = 64;

export interface FirstLine {
  /** `attach` may write and has a say in the size; `watch` only reads. */
  readonly mode: "watch" | "attach";
  /** Frames in both directions in place of the terminal's bytes alone. */
  readonly framed: boolean;
}

export type FirstLineResult =
  | { readonly ok: true; readonly first: FirstLine; readonly rest: Uint8Array }
  | { readonly ok: false; readonly reason: string };

const lines: Readonly<Record<string, FirstLine>> = {
  watch: { mode: "watch", framed: false },
  attach: { mode: "attach", framed: false },
  "watch/1": { mode: "watch", framed: true },
  "attach/1": { mode: "attach", framed: true },
};

/** What a first line without its newline asks for; undefined for any other line. */
export function parseFirstLine(line: string): FirstLine | undefined {
  return Object.hasOwn(lines, line) ? lines[line] : undefined;
}

export function formatFirstLine(first: FirstLine): string {
  return `${first.mode}${first.framed ? "/1" : ""}\n`;
}

/** Collects the first line of one client; not to be pushed to again after a result. */
export class FirstLineReader {
  #kept = new Uint8Array(0);

  /** Whether what came so far asks for frames, of whatever version; then a refusal is one. */
  get asksFrames(): boolean {
    return /^(watch|attach)\//.test(String.fromCharCode(...this.#kept));
  }

  /** Undefined while the line is not whole. */
  push(chunk: Uint8Array): FirstLineResult | undefined {
    const wanted = firstLineBytesMax - this.#kept.length;
    const head = chunk.subarray(0, wanted);
    const end = head.indexOf(0x0a);
    const joined = new Uint8Array(this.#kept.length + (end < 0 ? head.length : end));
    joined.set(this.#kept);
    joined.set(end < 0 ? head : head.subarray(0, end), this.#kept.length);
    this.#kept = joined;
    if (end < 0) {
      if (joined.length < firstLineBytesMax) return undefined;
      return { ok: false, reason: `first line is longer than ${firstLineBytesMax} bytes` };
    }
    // Every line that means something is ASCII, so any other byte makes none of them.
    const first = parseFirstLine(String.fromCharCode(...joined));
    if (first !== undefined) return { ok: true, first, rest: chunk.subarray(end + 1) };
    return { ok: false, reason: `first line is none of ${Object.keys(lines).join(", ")}` };
  }
}
