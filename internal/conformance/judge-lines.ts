// Judges a stream of bytes line by line, as the framing of a socket would, but goes on after a line
// that is refused, so that a file is judged whole. Keeps one line at most, whatever comes.

import type { Judgement } from "../abi/mod.ts";
import { LineDecoder } from "../frame/mod.ts";

export interface JudgedLine {
  /** Counts from 1. */
  readonly number: number;
  readonly judgement: Judgement;
}

const lineFeed = 0x0a;

export class LineJudge {
  private readonly bytesMax: number;
  private readonly judge: (line: string) => Judgement;
  private decoder: LineDecoder;
  private number = 1;
  /** The line was refused already; its rest is passed over. */
  private skipping = false;

  /** `bytesMax` counts a whole line with its LF. */
  constructor(bytesMax: number, judge: (line: string) => Judgement) {
    this.bytesMax = bytesMax;
    this.judge = judge;
    this.decoder = new LineDecoder(bytesMax);
  }

  /** What `chunk` decides, in the order of the lines. */
  push(chunk: Uint8Array): JudgedLine[] {
    const judged: JudgedLine[] = [];
    for (let start = 0; start < chunk.length; ) {
      const at = chunk.indexOf(lineFeed, start);
      const end = at < 0 ? chunk.length : at + 1;
      const ends = at >= 0;
      if (!this.skipping) {
        const judgement = this.piece(chunk.subarray(start, end));
        if (judgement !== undefined) {
          judged.push({ number: this.number, judgement });
          this.skipping = !ends;
        }
      } else this.skipping = !ends;
      if (ends) this.number++;
      start = end;
    }
    return judged;
  }

  /** The stream is over: an unfinished last line is refused. */
  end(): JudgedLine[] {
    return this.decoder
      .end()
      .flatMap((result) =>
        result.ok ? [] : [{ number: this.number, judgement: refusal(result.code, result.reason) }],
      );
  }

  /** A piece holds one LF at most, at its end; so it decides one line at most. */
  private piece(bytes: Uint8Array): Judgement | undefined {
    const [result] = this.decoder.push(bytes);
    if (result === undefined) return undefined;
    if (result.ok) return this.judge(result.line);
    // A decoder is silent after its first refusal.
    this.decoder = new LineDecoder(this.bytesMax);
    return refusal(result.code, result.reason);
  }
}

/** Judges one line given as its bytes without LF. */
export function judgeBytes(
  bytesMax: number,
  judge: (line: string) => Judgement,
  bytes: Uint8Array,
): Judgement {
  const lines = new LineJudge(bytesMax, judge);
  const [first] = [...lines.push(bytes), ...lines.push(new Uint8Array([lineFeed]))];
  return (first as JudgedLine).judgement;
}

function refusal(code: "EMSGSIZE" | "EINVAL", message: string): Judgement {
  return { ok: false, code, path: "", message, by: "line" };
}
