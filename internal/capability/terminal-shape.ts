// The shapes of terminal-call/v1, member by member, in the order in which they are encoded. Members
// that nobody knows are dropped. `abi/terminal-call/v1/schema.json` says the same to others.

import * as z from "zod";
import { loadWordsMax, shownWordsMax, terminalCallMsMax } from "./bounds.ts";
import type { Shaped } from "./shape.ts";
import { argument, identifier, objectName, viewPath, withoutProto } from "./values.ts";

const stopWord = z.enum(["cancelled", "timeout"]);

const environmentName = z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]{0,255}$/u);

const shapes = {
  "terminal.serve": z.object({ op: z.literal("terminal.serve"), request_id: identifier }),
  tsh: z.object({
    op: z.literal("tsh"),
    request_id: identifier,
    args: z.array(objectName).min(1).max(loadWordsMax),
  }),
  answer: z.object({ request_id: identifier, ok: z.literal(true), text: z.string() }),
  call: z.object({
    type: z.literal("call"),
    id: identifier,
    run: identifier,
    line: z.array(z.string()).min(1).max(shownWordsMax),
    kind: z.enum(["command", "native"]),
    program: z.array(argument).min(1),
    stdin: z.string().optional(),
    combined: z.boolean(),
    env: withoutProto(z.record(environmentName, argument)).optional(),
    cwd: viewPath,
    timeout_ms: z.int().min(1).max(terminalCallMsMax),
  }),
  cancel: z.object({ type: z.literal("cancel"), id: identifier, reason: stopWord }),
  note: z.object({ type: z.literal("note"), text: z.string().min(1) }),
  begin: z.object({ type: z.literal("begin"), id: identifier }),
  output: z.object({
    type: z.literal("output"),
    id: identifier,
    stream: z.enum(["stdout", "stderr"]),
    data: z.string().regex(/^[a-zA-Z0-9+/]*={0,2}$/u),
    dropped: z.int().min(0).optional(),
  }),
  end: z.object({
    type: z.literal("end"),
    id: identifier,
    exit: z.nullable(z.int().min(0).max(255)),
    signal: z.int().min(1).max(64).optional(),
    stopped: stopWord.optional(),
    message: z.string().optional(),
  }),
} as const;

export type TerminalKind = keyof typeof shapes;

export const requestKinds = ["terminal.serve", "tsh"] as const satisfies readonly TerminalKind[];
export const hostKinds = ["call", "cancel", "note"] as const satisfies readonly TerminalKind[];
export const shellKinds = ["begin", "output", "end"] as const satisfies readonly TerminalKind[];

const compiled = new Map<TerminalKind, z.ZodType<Readonly<Record<string, unknown>>>>();

/** Compiled at the first use of a kind, so that importing this costs nothing. */
export function terminalShapeOf(kind: TerminalKind): (value: unknown) => Shaped {
  let shape = compiled.get(kind);
  if (shape === undefined) {
    shape = z.compile(shapes[kind] as z.ZodType<Readonly<Record<string, unknown>>>);
    compiled.set(kind, shape);
  }
  const known = shape;
  return (value) => known.safeParse(value);
}
