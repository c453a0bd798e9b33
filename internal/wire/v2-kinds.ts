// Every kind of frame with its side, what it must be correlated by and whether it is a durable fact,
// and from these facts the schema of the whole frame, compiled at its first use.

import * as z from "zod";
import { type V2DataName, v2Data } from "./v2-data.ts";
import * as v from "./v2-fields.ts";

export const correlationNames = [
  "connection_id",
  "attachment_id",
  "request_id",
  "run_id",
  "command_id",
] as const;

export interface KindFacts {
  readonly side: "master" | "slave";
  readonly kind: string;
  /** How many of the five ids must be set, in order; the others must be null. -1: any prefix. */
  readonly ids: 1 | 2 | 3 | 4 | 5 | -1;
  /** `ack`: carries a sequence though it is no fact. */
  readonly durable: "always" | "may" | "never" | "ack";
  /** The connection itself and its attachments declare capabilities, mode and session. */
  readonly declares?: "connection" | "attachment";
  /** What an attachment that only observes must not send. */
  readonly acts?: true;
  /** Whether the frame may say where an input came from. */
  readonly origin?: true;
  readonly data: V2DataName;
}

export const v2Kinds = [
  {
    side: "master",
    kind: "hello",
    ids: 1,
    durable: "never",
    declares: "connection",
    data: "hello",
  },
  {
    side: "slave",
    kind: "welcome",
    ids: 1,
    durable: "never",
    declares: "connection",
    data: "welcome",
  },
  {
    side: "master",
    kind: "attach",
    ids: 2,
    durable: "never",
    declares: "attachment",
    data: "attach",
  },
  {
    side: "slave",
    kind: "attached",
    ids: 2,
    durable: "never",
    declares: "attachment",
    data: "attached",
  },
  { side: "master", kind: "detach", ids: 2, durable: "never", data: "detach" },
  { side: "slave", kind: "detach", ids: 2, durable: "never", data: "detach" },
  { side: "master", kind: "ack", ids: 2, durable: "ack", data: "empty" },
  { side: "slave", kind: "gap", ids: 2, durable: "never", data: "gap" },
  {
    side: "master",
    kind: "input",
    ids: 3,
    durable: "never",
    acts: true,
    origin: true,
    data: "input",
  },
  { side: "master", kind: "status", ids: 3, durable: "never", data: "empty" },
  { side: "slave", kind: "status", ids: 3, durable: "may", data: "status" },
  { side: "master", kind: "cancel", ids: 4, durable: "never", acts: true, data: "cancel" },
  { side: "slave", kind: "accepted", ids: 4, durable: "always", origin: true, data: "accepted" },
  { side: "slave", kind: "started", ids: 4, durable: "always", data: "started" },
  { side: "slave", kind: "event", ids: 4, durable: "may", origin: true, data: "event" },
  { side: "slave", kind: "done", ids: 4, durable: "always", data: "done" },
  { side: "slave", kind: "command", ids: 5, durable: "never", data: "command" },
  {
    side: "master",
    kind: "command_result",
    ids: 5,
    durable: "never",
    acts: true,
    data: "command_result",
  },
  { side: "slave", kind: "error", ids: -1, durable: "may", data: "error" },
] as const satisfies readonly KindFacts[];

/** A kind of one side with the schema of its frames, which is made at its first use. */
export interface KindEntry extends KindFacts {
  schema: FrameSchema | undefined;
}

/** The entries of a kind by side; most kinds are of one side only. */
export interface KindSides {
  master?: KindEntry;
  slave?: KindEntry;
}

const entries = new Map<unknown, KindSides>();
for (const row of v2Kinds) {
  const sides: KindSides = entries.get(row.kind) ?? {};
  sides[row.side] = { ...row, schema: undefined };
  entries.set(row.kind, sides);
}

/** Undefined when no side has such a kind. */
export function kindSides(kind: unknown): KindSides | undefined {
  return entries.get(kind);
}

/** Its output has the known fields only, in canonical order. */
export function frameSchema(entry: KindEntry): FrameSchema {
  entry.schema ??= z.compile(describeFrame(entry), { strict: true });
  return entry.schema;
}

type FrameSchema = ReturnType<typeof describeFrame>;
export type WireFrame = z.output<FrameSchema>;

function describeFrame(facts: KindFacts) {
  const correlation = (index: number): z.ZodType<string | null> => {
    if (facts.ids < 0) return v.identifier.nullable();
    return index < facts.ids ? v.identifier : v.nothing;
  };
  const attachment = facts.declares === "attachment";
  const connection = facts.declares === "connection";
  return v.object({
    abi: z.literal(v.v2Abi),
    correlation: v.object({
      connection_id: correlation(0),
      attachment_id: correlation(1),
      request_id: correlation(2),
      run_id: correlation(3),
      command_id: correlation(4),
    }),
    session_seq: sequence(facts),
    event: v.object({
      side: z.literal(facts.side),
      kind: z.literal(facts.kind),
      capabilities: attachment ? v.granted : v.announced,
      mode: modeOf(facts, attachment, connection),
      session: attachment ? v.session : connection ? v.nothing : v.session.nullable(),
      origin: facts.origin ? v.origin.nullable() : v.nothing,
      durable: v.flag,
      data: v2Data[facts.data] as z.ZodType<object>,
    }),
  });
}

function sequence(facts: KindFacts): z.ZodType<number | null> {
  if (facts.durable === "never") return v.nothing;
  return facts.durable === "may" ? v.positive.nullable() : v.positive;
}

function modeOf(
  facts: KindFacts,
  attachment: boolean,
  connection: boolean,
): z.ZodType<"observe" | "interact" | null> {
  if (connection) return v.nothing;
  if (attachment) return v.mode;
  if (!facts.acts) return v.mode.nullable();
  return z.literal("interact", { error: "is neither null nor interact" }).nullable();
}
