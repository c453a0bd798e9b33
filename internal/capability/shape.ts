// The shapes of control/v1, member by member, in the order in which they are encoded. Members that
// nobody knows are dropped. `abi/control/v1/schema.json` says the same to others.

import * as z from "zod";
import { updatableControls } from "../abi/mod.ts";
import type { ShapeIssue } from "../frame/mod.ts";
import { capabilityListMax } from "./bounds.ts";
import {
  argument,
  callResult,
  code,
  decision,
  freeObject,
  identifier,
  labelText,
  modelName,
  objectName,
  permText,
  sessionName,
  textPart,
  tokens,
  viewPath,
  withoutProto,
} from "./values.ts";

/** Largest uid or gid. */
const idMax = 4_294_967_294;

const message = z.object({
  role: z.enum(["system", "user", "assistant"]),
  content: z.union([z.string(), z.array(textPart).min(1)]),
});

const spaces = withoutProto(z.record(objectName, z.array(z.enum(["read", "write"])).max(2)));

const requests = {
  "agent.update": z.object({
    op: z.literal("agent.update"),
    request_id: identifier,
    agent: objectName,
    session: sessionName,
    run: identifier,
    control: z.enum(updatableControls),
    content: z.string().regex(/^[^\0]*$/u),
  }),
  "tool.authorize": z.object({
    op: z.literal("tool.authorize"),
    request_id: identifier,
    name: objectName,
    args: z.union([freeObject, z.array(argument)]),
  }),
  "tool.call": z.object({
    op: z.literal("tool.call"),
    request_id: identifier,
    name: objectName,
    args: freeObject,
  }),
  "model.use": z.object({
    op: z.literal("model.use"),
    request_id: identifier,
    model: modelName,
    messages: z.array(message).min(1),
  }),
  "agent.create": z.object({
    op: z.literal("agent.create"),
    request_id: identifier,
    name: objectName,
    label: labelText,
    model: z.array(modelName).min(1).max(capabilityListMax),
    tools: z.array(objectName).max(capabilityListMax).optional(),
    shared: spaces.optional(),
    mount: z
      .array(z.tuple([viewPath, viewPath, z.enum(["ro", "rw"])]))
      .max(capabilityListMax)
      .optional(),
    groups: z.array(z.int().min(0).max(idMax)).max(capabilityListMax).optional(),
    perm: permText.optional(),
  }),
  "agent.start": z.object({
    op: z.literal("agent.start"),
    request_id: identifier,
    agent: objectName,
    session: sessionName.optional(),
    input: z.string().optional(),
  }),
  "agent.stop": z.object({
    op: z.literal("agent.stop"),
    request_id: identifier,
    agent: objectName,
    session: sessionName.optional(),
  }),
} as const;

const replies = {
  reply: z.object({
    request_id: identifier,
    ok: z.literal(true),
    agent: objectName.optional(),
    session: sessionName.optional(),
    run: identifier.optional(),
    control: z.enum(updatableControls).optional(),
    decision: decision.optional(),
    result: callResult.optional(),
  }),
  refusal: z.object({
    request_id: z.nullable(identifier),
    ok: z.literal(false),
    code,
    message: z.string().min(1),
    decision: decision.optional(),
  }),
} as const;

const streamed = { request_id: identifier, id: identifier, run: identifier };

const stream = {
  delta: z.object({ type: z.literal("delta"), ...streamed, text: z.string() }),
  reasoning_delta: z.object({ type: z.literal("reasoning_delta"), ...streamed, text: z.string() }),
  message: z.object({
    type: z.literal("message"),
    ...streamed,
    role: z.literal("assistant"),
    content: z.array(textPart).min(1),
  }),
  usage: z.object({
    type: z.literal("usage"),
    ...streamed,
    input_tokens: tokens,
    output_tokens: tokens,
  }),
  error: z.object({ type: z.literal("error"), ...streamed, code, message: z.string().min(1) }),
  done: z.object({
    type: z.literal("done"),
    ...streamed,
    status: z.enum(["ok", "error", "cancelled"]),
    code: code.optional(),
  }),
} as const;

const shapes = { ...requests, ...replies, ...stream } as const;

export type CapabilityKind = keyof typeof shapes;
export type RequestKind = keyof typeof requests;

export const requestKinds = Object.keys(requests) as readonly RequestKind[];
export const streamKinds = Object.keys(stream) as readonly (keyof typeof stream)[];

export type Shaped =
  | { readonly success: true; readonly data: Readonly<Record<string, unknown>> }
  | { readonly success: false; readonly error: { readonly issues: readonly ShapeIssue[] } };

type Judge = (value: unknown) => Shaped;

const compiled = new Map<CapabilityKind, Judge>();

/** Compiled at the first use of a kind, so that importing this costs nothing. */
export function shapeOf(kind: CapabilityKind): Judge {
  const known = compiled.get(kind);
  if (known !== undefined) return known;
  const shape = z.compile(shapes[kind] as z.ZodType<Readonly<Record<string, unknown>>>);
  const judge: Judge = (value) => shape.safeParse(value);
  compiled.set(kind, judge);
  return judge;
}
