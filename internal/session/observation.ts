// Cuts text on character boundaries: a tool's output to what an agent is handed of it, and a long
// text into pieces that each fit a frame.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface Observation {
  readonly content: string;
  readonly truncated: boolean;
  /** The whole output as UTF-8, when it was cut. */
  readonly whole: Uint8Array | undefined;
}

export function observe(output: string, bytesMax: number): Observation {
  // A UTF-16 unit is at least one byte and at most three.
  if (output.length * 3 <= bytesMax) return { content: output, truncated: false, whole: undefined };
  const whole = encoder.encode(output);
  if (whole.length <= bytesMax) return { content: output, truncated: false, whole: undefined };
  let end = bytesMax;
  // Bytes 10xxxxxx continue a character: step back to where one begins.
  while (end > 0 && ((whole[end] as number) & 0xc0) === 0x80) end -= 1;
  return { content: decoder.decode(whole.subarray(0, end)), truncated: true, whole };
}

/** The text in order, in pieces of at most `unitsMax` UTF-16 units; one piece for an empty text. */
export function pieces(text: string, unitsMax: number): string[] {
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > unitsMax) {
    const last = text.charCodeAt(start + unitsMax - 1);
    // A pair whose first half would end the piece begins the next one.
    const end = start + unitsMax - (last >= 0xd800 && last <= 0xdbff ? 1 : 0);
    parts.push(text.slice(start, end));
    start = end;
  }
  parts.push(text.slice(start));
  return parts;
}
