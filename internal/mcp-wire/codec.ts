// Lines of this wire as frames and back. A line that is not exactly one of the frames is refused: both
// ends are of one version, so anything else was said by somebody else.

import * as z from "zod";
import { isCode } from "../abi/mod.ts";
import type { HostFrame, ServeFrame } from "./frames.ts";
import { pieceUnitsMax } from "./frames.ts";

const id = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);
const milliseconds = z
  .number()
  .int()
  .min(1)
  .max(24 * 60 * 60 * 1000);
const text = z.string();
const piece = z.string().max(pieceUnitsMax);
const code = z.string().refine(isCode);

const hostFrame = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("open"),
    config: text,
    server: text,
    root: text,
    start_ms: milliseconds,
  }),
  z.strictObject({ kind: z.literal("start"), values: z.record(text, text) }),
  z.strictObject({
    kind: z.literal("call"),
    id,
    tool: text,
    args: z.record(text, z.unknown()),
    definition: z.string().regex(/^[0-9a-f]{64}$/),
    idle_ms: milliseconds,
    total_ms: milliseconds,
  }),
  z.strictObject({ kind: z.literal("cancel"), id }),
]);

const entry = z.strictObject({
  command: text,
  args: z.array(text),
  env: z.record(text, text),
  cwd: text.optional(),
});

const serveFrame = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("entry"),
    entry,
    variables: z.array(z.strictObject({ name: text, field: text, optional: z.boolean() })),
  }),
  z.strictObject({ kind: z.literal("failed"), code, message: piece }),
  z.strictObject({ kind: z.literal("ready") }),
  z.strictObject({ kind: z.literal("progress"), id, text: piece }),
  z.strictObject({ kind: z.literal("text"), id, text: piece }),
  z.strictObject({
    kind: z.literal("keep"),
    id,
    index: z.number().int().min(0),
    data: piece,
  }),
  z.strictObject({
    kind: z.literal("result"),
    id,
    status: z.enum(["ok", "error"]),
    code: code.optional(),
    over: z.literal(true).optional(),
  }),
]);

/** Undefined for a line that is none. */
export function decodeHostFrame(line: string): HostFrame | undefined {
  return parsed(line, hostFrame) as HostFrame | undefined;
}

/** Undefined for a line that is none. */
export function decodeServeFrame(line: string): ServeFrame | undefined {
  return parsed(line, serveFrame) as ServeFrame | undefined;
}

function parsed(line: string, shape: z.ZodType): unknown {
  try {
    const result = shape.safeParse(JSON.parse(line));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

/** One line with its LF. */
export function encodeServe(frame: HostFrame | ServeFrame): string {
  return `${JSON.stringify(frame)}\n`;
}
