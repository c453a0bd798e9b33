// From a frame to its line. The order of keys is fixed by the table below and not by whoever built
// the frame, so that replaying a record sends the same bytes again.

import type { OpFrame } from "./op.ts";

type Keys<T extends OpFrame["type"]> = readonly (keyof Extract<OpFrame, { type: T }>)[];

const frameKeys: { readonly [T in OpFrame["type"]]: Keys<T> } = {
  start: ["type", "id", "seq", "run", "model", "queued"],
  delta: ["type", "id", "run", "text"],
  reasoning_delta: ["type", "id", "run", "text"],
  message: ["type", "id", "seq", "run", "role", "content"],
  tool_call: ["type", "id", "seq", "run", "name", "args"],
  tool_result: ["type", "id", "seq", "run", "name", "status", "code", "content", "truncated"],
  tool_delta: ["type", "id", "run", "text"],
  approval_request: ["type", "id", "seq", "run", "name", "args", "cwd", "digest", "expires_at"],
  usage: ["type", "id", "seq", "run", "input_tokens", "output_tokens"],
  status: [
    ...(["type", "id", "session", "status", "phase", "run", "step", "model"] as const),
    ...(["updated_at", "terminal"] as const),
  ],
  error: ["type", "id", "seq", "run", "code", "message"],
  done: ["type", "id", "seq", "run", "status", "code"],
  pong: ["type", "id"],
};

/** One JSON line with its LF. Absent optional fields are left out. */
export function encodeFrame(frame: OpFrame): string {
  const ordered: Record<string, unknown> = {};
  const values: Readonly<Record<string, unknown>> = { ...frame };
  for (const key of frameKeys[frame.type]) {
    if (values[key] !== undefined) ordered[key] = values[key];
  }
  return `${JSON.stringify(ordered)}\n`;
}
