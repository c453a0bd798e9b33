// `event.data` of every kind. The order of the fields is the order in which they are encoded.

import * as z from "zod";
import * as v from "./v2-fields.ts";

const tagged = "names no type that is known here";

const limits = {
  max_attachments: v.positive,
  max_pending_requests_per_attachment: v.positive,
  max_pending_commands_per_attachment: v.positive,
  max_unacked_events_per_attachment: v.positive,
  max_outbound_bytes_per_attachment: v.positive,
  max_outbound_bytes_per_connection: v.positive,
  max_replay_events_per_batch: v.positive,
};

const place = {
  agent: v.objectName,
  scope: v.scope,
  shared: v.objectName.optional(),
};

const call = { call_id: v.identifier, name: v.identifier };

const eventData = z.discriminatedUnion(
  "type",
  [
    v.object({ type: z.literal("delta"), text: v.text }),
    v.object({ type: z.literal("reasoning_delta"), text: v.text }),
    v.object({ type: z.literal("tool_delta"), call_id: v.identifier, text: v.text }),
    v.object({
      type: z.literal("message"),
      role: v.role,
      text: v.text,
      content_ref: v.contentRef.optional(),
    }),
    v.object({
      type: z.literal("tool_call"),
      ...call,
      args: v.anyValue.optional(),
      args_digest: v.sha256.optional(),
      content_ref: v.contentRef.optional(),
    }),
    v.object({
      type: z.literal("tool_result"),
      ...call,
      status: v.callStatus,
      code: v.errorCode.optional(),
      content: v.text,
      truncated: v.flag,
      content_ref: v.contentRef.optional(),
    }),
    v.object({
      type: z.literal("approval"),
      ...call,
      state: v.approvalState,
      reason: v.text.optional(),
    }),
    v.object({ type: z.literal("usage"), input_tokens: v.natural, output_tokens: v.natural }),
    v.object({ type: z.literal("cancel"), reason: v.text.optional() }),
    v.object({ type: z.literal("agent_update"), agent: v.objectName, control: v.identifier }),
  ],
  { error: tagged },
);

const command = z.discriminatedUnion(
  "type",
  [
    v.object({ type: z.literal("request_input"), prompt: v.text }),
    v.object({ type: z.literal("request_approval"), tool: v.identifier, arguments: v.anyValue }),
    v.object({ type: z.literal("notify"), level: v.identifier, text: v.text }),
    v.object({ type: z.literal("invoke"), name: v.identifier, payload: v.anyValue }),
  ],
  { error: tagged },
);

const result = z.discriminatedUnion(
  "type",
  [
    v.object({ type: z.literal("accepted") }),
    v.object({ type: z.literal("rejected"), reason: v.text }),
    v.object({ type: z.literal("value"), payload: v.anyValue }),
  ],
  { error: tagged },
);

export const v2Data = {
  hello: v.object({
    versions: v.versions,
    fallback_versions: v.versions,
    master_id: v.identifier,
  }),
  welcome: v.object({
    ...limits,
    frame_bytes_max: v.frameBytes,
    heartbeat_ms: v.positive,
    server: v.object({ name: v.identifier, version: v.identifier }),
  }),
  attach: v.object({ ...place, after_session_seq: v.natural.optional() }),
  attached: v.object({
    ...place,
    session: v.session,
    replay_from: v.natural,
    head: v.natural,
    status: v.sessionStatus,
    run: v.identifier.optional(),
    waiting: v.waiting,
  }),
  detach: v.object({ reason: v.text.optional() }),
  empty: v.object({}),
  gap: v.object({ from: v.positive, to: v.positive, reason: v.gapReason }),
  input: v.object({
    input: v.text,
    cwd: v.path.optional(),
    workspace: v.path.optional(),
    event: v.anyObject.optional(),
  }),
  cancel: v.object({ reason: v.text.optional() }),
  accepted: v.object({ digest: v.sha256 }),
  started: v.object({ model: v.modelName, window: v.tokens.optional() }),
  event: eventData,
  done: v.object({ status: v.runStatus, code: v.errorCode.optional() }),
  command: v.object({ command, effect_id: v.identifier.optional(), expires_at: v.instant }),
  command_result: v.object({ result, effect_id: v.identifier.optional() }),
  status: v.object({
    status: v.sessionStatus,
    phase: v.identifier,
    run: v.identifier.optional(),
    step: v.natural,
    model: v.modelName.optional(),
    head: v.natural,
  }),
  error: v.object({ code: v.errorCode, message: v.text, retryable: v.flag }),
};

export type V2DataName = keyof typeof v2Data;
export type V2DataOf<K extends V2DataName> = z.output<(typeof v2Data)[K]>;
