// The two durable record shapes of a session. `events.jsonl` orders everything by `seq` (from 1,
// by one); a message's line in `messages.jsonl` is durable before the event that names it.

import type { Code } from "../abi/mod.ts";

export type EventType =
  | "session.open"
  | "request.accepted"
  | "run.start"
  | "message"
  | "tool.call"
  | "tool.result"
  | "approval.request"
  | "approval.result"
  | "usage"
  | "agent.start"
  | "agent.stop"
  | "agent.update"
  | "agent.child.cancel"
  | "run.cancel"
  | "error"
  | "run.done"
  | "session.repair";

/** Fields that every event has, then those that some types add. Unknown fields are kept as they are. */
export interface EventRecord {
  readonly seq: number;
  /** RFC 3339 UTC with milliseconds. */
  readonly ts: string;
  readonly type: EventType;
  readonly agent: string;
  readonly session: string;
  readonly run?: string;
  /** `tool/fs.read`, `model/debug/echo`. */
  readonly object?: string;
  readonly status?: string;
  readonly code?: Code;
  /** request.accepted: the client's id and the digest of its claim. */
  readonly request?: string;
  readonly digest?: string;
  readonly cwd?: string;
  readonly workspace?: string;
  /** message: id of the line in messages.jsonl, and its role. */
  readonly message?: string;
  readonly role?: "user" | "assistant";
  /** tool.call and tool.result: the host's call id, `call-<seq of the tool.call>`. */
  readonly call?: string;
  readonly args?: unknown;
  readonly args_digest?: string;
  readonly content?: string;
  readonly truncated?: boolean;
  /** tool.result: the whole output, when it did not fit the observation. */
  readonly content_ref?: {
    readonly sha256: string;
    readonly bytes: number;
    readonly dropped: number;
  };
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly text?: string;
  readonly [extra: string]: unknown;
}

/** An event before the writer gives it `seq` and `ts`. */
export type EventDraft = Omit<EventRecord, "seq" | "ts" | "agent" | "session">;

export interface MessageRecord {
  readonly id: string;
  readonly seq: number;
  readonly ts: string;
  readonly run: string;
  readonly role: "user" | "assistant";
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
}
