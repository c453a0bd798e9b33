// The op wire as shapes: every request and every frame of the protocol, also those that this version
// does not serve yet. Keys stand in the order in which they are encoded.

import * as z from "zod";
import {
  anything,
  code,
  count,
  cursor,
  identifier,
  instant,
  maybe,
  objectName,
  runStatus,
  scope,
  scoped,
  sequence,
  sessionName,
  sha256,
  viewPath,
} from "./op-fields.ts";
import type { Uses } from "./op-rules.ts";

export interface OpKind {
  readonly shape: z.ZodType;
  readonly uses: Uses;
}

const session = maybe(sessionName);
const place = { session, scope: maybe(scope), shared: maybe(objectName) };
const words = z.array(z.string());

/** What a client sends, by `op`. */
export const opRequests: Readonly<Record<string, OpKind>> = {
  send: {
    shape: scoped(
      z.object({
        op: z.literal("send"),
        id: identifier,
        ...place,
        cwd: maybe(viewPath),
        input: z.string(),
        workspace: maybe(viewPath),
      }),
    ),
    uses: { "/id": "identifier", "/input": "input", "/cwd": "path", "/workspace": "path" },
  },
  tsh: {
    shape: z.object({ op: z.literal("tsh"), id: identifier, session, args: words }),
    uses: { "/id": "identifier" },
  },
  resume: {
    shape: scoped(z.object({ op: z.literal("resume"), ...place, after: maybe(cursor) })),
    uses: { "/after": "identifier" },
  },
  status: { shape: scoped(z.object({ op: z.literal("status"), ...place })), uses: {} },
  cancel: {
    shape: z.object({ op: z.literal("cancel"), id: identifier }),
    uses: { "/id": "identifier" },
  },
  approve: {
    shape: z.object({
      op: z.literal("approve"),
      run: identifier,
      id: identifier,
      decision: z.enum(["allow_once", "deny"]),
      reason: maybe(z.string()),
      digest: maybe(identifier),
    }),
    uses: {
      "/run": "identifier",
      "/id": "identifier",
      "/reason": "reason",
      "/digest": "identifier",
    },
  },
  start: {
    shape: z.object({
      op: z.literal("start"),
      id: identifier,
      session,
      cwd: maybe(viewPath),
      mounts: maybe(words),
      command: maybe(words),
    }),
    uses: { "/id": "identifier", "/cwd": "path" },
  },
  stop: {
    shape: z.object({ op: z.literal("stop"), id: identifier, session }),
    uses: { "/id": "identifier" },
  },
  ps: { shape: z.object({ op: z.literal("ps") }), uses: {} },
  read: {
    shape: z.object({
      op: z.literal("read"),
      session,
      ref: sha256,
      offset: maybe(count),
      length: maybe(sequence),
    }),
    uses: {},
  },
  ping: { shape: z.object({ op: z.literal("ping") }), uses: {} },
};

const ofRun = { "/id": "identifier", "/run": "identifier" } as const;
const seq = sequence.optional();
const run = identifier;
const tool = { id: identifier, seq, run, name: z.string() };
const texts = z.array(z.object({ type: z.literal("text"), text: z.string() }));

function streamed(type: string): OpKind {
  const fields = { type: z.literal(type), id: identifier, run, text: z.string() };
  return { shape: z.object(fields), uses: ofRun };
}

/** What a server sends, by `type`. */
export const opFrames: Readonly<Record<string, OpKind>> = {
  start: {
    shape: z.object({
      type: z.literal("start"),
      ...{ id: identifier, seq, run, model: z.string(), queued: z.boolean().optional() },
    }),
    uses: ofRun,
  },
  delta: streamed("delta"),
  reasoning_delta: streamed("reasoning_delta"),
  message: {
    shape: z.object({
      type: z.literal("message"),
      ...{ id: identifier, seq, run, role: z.enum(["user", "assistant"]), content: texts },
    }),
    uses: ofRun,
  },
  tool_call: {
    shape: z.object({ type: z.literal("tool_call"), ...tool, args: anything }),
    uses: ofRun,
  },
  tool_result: {
    shape: z.object({
      type: z.literal("tool_result"),
      ...tool,
      status: z.enum(["ok", "error"]),
      code: code.optional(),
      content: z.string(),
      truncated: z.boolean(),
    }),
    uses: ofRun,
  },
  tool_delta: streamed("tool_delta"),
  approval_request: {
    shape: z.object({
      type: z.literal("approval_request"),
      ...tool,
      args: anything,
      cwd: viewPath,
      digest: identifier,
      expires_at: instant,
    }),
    uses: { ...ofRun, "/cwd": "path", "/digest": "identifier" },
  },
  usage: {
    shape: z.object({
      type: z.literal("usage"),
      ...{ id: identifier, seq, run, input_tokens: count, output_tokens: count },
    }),
    uses: ofRun,
  },
  status: {
    shape: z.object({
      type: z.literal("status"),
      id: identifier,
      session: sessionName,
      status: z.enum(["active", "idle", "done", "error"]),
      phase: z.string(),
      run: identifier.nullable(),
      step: count,
      model: z.string().nullable(),
      updated_at: instant,
    }),
    uses: ofRun,
  },
  error: {
    shape: z.object({
      type: z.literal("error"),
      ...{ id: identifier, seq, run: run.optional(), code, message: z.string() },
    }),
    uses: ofRun,
  },
  done: {
    shape: z.object({
      type: z.literal("done"),
      ...{ id: identifier, seq, run: run.optional(), status: runStatus, code: code.optional() },
    }),
    uses: ofRun,
  },
  pong: {
    shape: z.object({ type: z.literal("pong"), id: identifier }),
    uses: { "/id": "identifier" },
  },
};
