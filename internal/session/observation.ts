// Cuts a tool's output to what an agent is handed of it, on a character boundary.

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
