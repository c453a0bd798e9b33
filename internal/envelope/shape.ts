// The shapes of sdk-envelope-v1, member by member, in the order in which they are encoded. Every
// object is closed. `abi/sdk-envelope/v1/schema.json` says the same to others.

import * as z from "zod";
import { isJsonObject, type ShapeIssue } from "../frame/mod.ts";
import { runStartsMax } from "./bounds.ts";
import { invocationSchema } from "./frames.ts";

/** Not empty and without NUL; its bytes are counted by a rule. */
const identifier = z.string().regex(/^[^\0]+$/u);

const objectName = z
  .string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/u)
  .regex(/^(?!.*\.(?:sock|d)$)/u);

const tokens = z.int().min(0);

const freeObject = z.custom<object>(isJsonObject, "expected object");

const observation = z.strictObject({
  tool_call_id: identifier,
  name: objectName,
  status: z.enum(["ok", "error"]),
  content: z.string(),
  truncated: z.boolean(),
});

const invocation = z
  .strictObject({
    schema: z.literal(invocationSchema),
    run: identifier,
    step: z
      .int()
      .min(0)
      .max(runStartsMax - 1),
    input: z.string(),
    history_messages: z.string(),
    tool_context: z.string(),
    observation: z.nullable(observation),
  })
  .refine((one) => (one.step === 0) === (one.observation === null), {
    path: ["observation"],
    message: "step 0 has none, every later step has one",
  });

const run = identifier.optional();
const textPart = z.strictObject({ type: z.literal("text"), text: z.string() });

const shapes = {
  invocation,
  delta: z.strictObject({ type: z.literal("delta"), run, text: z.string() }),
  reasoning_delta: z.strictObject({ type: z.literal("reasoning_delta"), run, text: z.string() }),
  message: z.strictObject({
    type: z.literal("message"),
    run,
    role: z.literal("assistant"),
    content: z.array(textPart).min(1),
  }),
  usage: z.strictObject({
    type: z.literal("usage"),
    run,
    input_tokens: tokens,
    output_tokens: tokens,
  }),
  tool_call: z.strictObject({
    type: z.literal("tool_call"),
    run,
    id: identifier,
    name: objectName,
    args: freeObject,
  }),
} as const;

export type EnvelopeKind = keyof typeof shapes;

export const envelopeKinds = Object.keys(shapes) as readonly EnvelopeKind[];

export type Shaped =
  | { readonly success: true; readonly data: Readonly<Record<string, unknown>> }
  | { readonly success: false; readonly error: { readonly issues: readonly ShapeIssue[] } };

type Judge = (value: unknown) => Shaped;

const compiled = new Map<EnvelopeKind, Judge>();

/** Compiled at the first use of a kind, so that importing this costs nothing. */
export function shapeOf(kind: EnvelopeKind): Judge {
  const known = compiled.get(kind);
  if (known !== undefined) return known;
  const shape = z.compile(shapes[kind] as z.ZodType<Readonly<Record<string, unknown>>>);
  const judge: Judge = (value) => shape.safeParse(value);
  compiled.set(kind, judge);
  return judge;
}
