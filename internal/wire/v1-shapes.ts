// Interaction v1 as shapes: the five requests and nine events that travel in its envelope. Keys stand in
// the order in which they are encoded.

import * as z from "zod";
import { codes } from "../abi/mod.ts";
import {
  anything,
  count,
  cursor,
  identifier,
  maybe,
  objectName,
  opaqueObject,
  runStatus,
  scope,
  scoped,
  sessionName,
  viewPath,
} from "./op-fields.ts";
import type { Uses } from "./op-rules.ts";

export const v1Abi = "cortexfs.interaction/v1";

export interface V1Kind {
  readonly shape: z.ZodType;
  readonly uses: Uses;
}

const asked = { request_id: identifier, session: sessionName };
const place = { ...asked, scope: maybe(scope), shared: maybe(objectName) };

const origin = z.object({
  transport: identifier,
  endpoint: maybe(identifier),
  identity: maybe(identifier),
  conversation: maybe(identifier),
  thread: maybe(identifier),
  metadata: maybe(opaqueObject),
});

const result = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("accepted") }),
    z.object({ type: z.literal("rejected"), reason: z.string() }),
    z.object({ type: z.literal("value"), payload: anything }),
  ],
  { error: "is none of accepted, rejected, value" },
);

/** What a client sends, by `type`. */
export const v1Requests: Readonly<Record<string, V1Kind>> = {
  input: {
    shape: scoped(
      z.object({
        type: z.literal("input"),
        ...{ ...asked, scope, shared: maybe(objectName), input: z.string() },
        ...{ event: maybe(opaqueObject), origin, cwd: maybe(viewPath), workspace: maybe(viewPath) },
      }),
    ),
    uses: {
      "/request_id": "identifier",
      "/input": "input",
      "/event": "event",
      "/origin/transport": "identifier",
      "/origin/endpoint": "identifier",
      "/origin/identity": "identifier",
      "/origin/conversation": "identifier",
      "/origin/thread": "identifier",
      "/origin/metadata": "metadata",
      "/cwd": "path",
      "/workspace": "path",
    },
  },
  resume: {
    shape: scoped(z.object({ type: z.literal("resume"), ...place, after: maybe(cursor) })),
    uses: { "/request_id": "identifier", "/after": "identifier" },
  },
  status: {
    shape: scoped(z.object({ type: z.literal("status"), ...place })),
    uses: { "/request_id": "identifier" },
  },
  cancel: {
    shape: z.object({ type: z.literal("cancel"), request_id: identifier, run: identifier }),
    uses: { "/request_id": "identifier", "/run": "identifier" },
  },
  command_result: {
    shape: z.object({
      type: z.literal("command_result"),
      ...{ ...asked, command_id: identifier, result },
    }),
    uses: {
      "/request_id": "identifier",
      "/command_id": "identifier",
      "/result/reason": "reason",
      "/result/payload": "event",
    },
  },
};

const answered = { request_id: identifier };
const ofRun = { ...answered, run: identifier };
const named = { "/request_id": "identifier", "/run": "identifier" } as const;

const command = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("request_input"), prompt: z.string() }),
    z.object({ type: z.literal("request_approval"), tool: z.string(), arguments: anything }),
    z.object({ type: z.literal("notify"), level: z.string(), text: z.string() }),
    z.object({ type: z.literal("invoke"), name: z.string(), payload: anything }),
  ],
  { error: "is none of request_input, request_approval, notify, invoke" },
);

/** The closed table without the one code that travels as EINVAL here. */
const code = z.enum(
  Object.keys(codes).filter((one) => one !== "request_conflict") as [keyof typeof codes],
);

/** What a server sends, by `type`. */
export const v1Events: Readonly<Record<string, V1Kind>> = {
  accepted: {
    shape: z.object({ type: z.literal("accepted"), ...asked, run: identifier }),
    uses: named,
  },
  started: {
    shape: z.object({ type: z.literal("started"), ...ofRun, model: z.string().optional() }),
    uses: named,
  },
  delta: { shape: z.object({ type: z.literal("delta"), ...ofRun, text: z.string() }), uses: named },
  message: {
    shape: z.object({
      type: z.literal("message"),
      ...{ ...ofRun, role: z.enum(["user", "assistant"]), text: z.string() },
    }),
    uses: named,
  },
  tool: {
    shape: z.object({
      type: z.literal("tool"),
      ...{ ...ofRun, call_id: identifier, name: z.string() },
      state: z.enum(["running", "ok", "error"]),
    }),
    uses: { ...named, "/call_id": "identifier" },
  },
  command: {
    shape: z.object({ type: z.literal("command"), ...ofRun, command_id: identifier, command }),
    uses: { ...named, "/command_id": "identifier" },
  },
  status: {
    shape: z.object({
      type: z.literal("status"),
      ...{ ...asked, status: z.enum(["active", "idle", "done", "error"]) },
      ...{ phase: z.string().optional(), step: count },
    }),
    uses: { "/request_id": "identifier" },
  },
  error: {
    shape: z.object({
      type: z.literal("error"),
      ...{ ...answered, run: identifier.optional(), code, message: z.string() },
      retryable: z.boolean(),
    }),
    uses: named,
  },
  done: {
    shape: z.object({
      type: z.literal("done"),
      ...{ ...answered, run: identifier.optional(), status: runStatus },
    }),
    uses: named,
  },
};
