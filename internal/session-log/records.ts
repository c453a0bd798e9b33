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

/** An event before the writer gives it its number and time. Unknown fields are kept as they are. */
export interface EventDraft {
  readonly type: EventType;
  readonly run?: string;
  /** `tool/fs.read`, `model/debug/echo`. */
  readonly object?: string;
  readonly status?: string;
  readonly code?: Code;
  /** session.open: format of the records; a higher one than ours is refused. */
  readonly format?: number;
  /** request.accepted: the client's id, the digest of its claim, and whether it had to wait. */
  readonly request?: string;
  readonly digest?: string;
  readonly queued?: true;
  readonly cwd?: string;
  readonly workspace?: string;
  /** request.accepted: where the input came from, and what happened there, as its sender says. */
  readonly origin?: object;
  readonly event?: object;
  /** message: id of the line in messages.jsonl, and its role. */
  readonly message?: string;
  readonly role?: "user" | "assistant";
  /** tool.call and tool.result: the host's call id, `call-<seq of the tool.call>`. */
  readonly call?: string;
  /** tool.call: the id that an executable agent gave the call. */
  readonly agent_call?: string;
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
  /** approval.request: when it is denied unless it is answered, as `ts`. */
  readonly expires_at?: string;
  /** agent.update: the SHA-256 of the new text, and its UTF-8 bytes. */
  readonly content_digest?: string;
  readonly bytes?: number;
  readonly text?: string;
  readonly [extra: string]: unknown;
}

/** One line of events.jsonl. */
export interface EventRecord extends EventDraft {
  readonly seq: number;
  /** RFC 3339 UTC with milliseconds. */
  readonly ts: string;
  readonly agent: string;
  readonly session: string;
}

export interface MessageRecord {
  readonly id: string;
  readonly seq: number;
  readonly ts: string;
  readonly run: string;
  readonly role: "user" | "assistant";
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  /**
   * Events of the same batch that come right before this message's own event. A crash between the
   * two files is rolled forward from the line alone, so it must say them.
   */
  readonly before?: readonly EventDraft[];
}

/** One event with the message line that it names; every other event has none. */
export interface StoredRecord {
  readonly event: EventRecord;
  readonly message: MessageRecord | undefined;
}

/** What a writer hands in: an event, with the text of its line when it is a message. */
export interface Entry {
  readonly event: EventDraft;
  readonly text?: string;
}

/** Written together or not at all, in this order. */
export interface Batch {
  readonly entries: readonly Entry[];
  /** Settles when the request's claim is durable; the events wait for it, the message line does not. */
  readonly claim?: Promise<void>;
}

/** A position between records: everything up to `seq` lies before it. */
export interface Cursor {
  readonly seq: number;
  /** Byte offsets in events.jsonl and messages.jsonl; entry numbers in a memory log. */
  readonly events: number;
  readonly messages: number;
}

export const startCursor: Cursor = { seq: 0, events: 0, messages: 0 };

export interface ReadResult {
  readonly records: readonly StoredRecord[];
  readonly cursor: Cursor;
}

export interface ChunkRef {
  readonly sha256: string;
  readonly bytes: number;
}

/** One session's log, on disk or (temp scope) in memory. There is no append that is not durable. */
export interface SessionLog {
  /** Sequence number of the last durable record; 0 when there is none. */
  readonly head: number;
  /** Host path of the session's folder; undefined in memory. */
  readonly folder: string | undefined;
  /** False once its files were removed or replaced: nothing can be appended any more. */
  readonly inPlace: boolean;
  /**
   * Durable before it resolves, with the records as written. Rejects with ENOSPC or EIO when the
   * write failed and was taken back, EMSGSIZE for a record past its bound, session_locked or EIO
   * for good once the log has failed.
   */
  appendDurable(batch: Batch): Promise<readonly EventRecord[]>;
  /** The position right after record `seq`, which is at most `head`. */
  locate(seq: number): Cursor;
  /** The next records after a position, in order; none when it is at the head. */
  read(cursor: Cursor): ReadResult;
  /** Keeps spilled output by its hash; durable before it resolves. */
  keepChunk(bytes: Uint8Array): Promise<ChunkRef>;
  /**
   * Replaces derived files off the path of any acknowledgement; never fails. `delayMs` is how long
   * a content may wait for a newer one.
   */
  derive(files: Readonly<Record<string, string>>, delayMs: number): void;
  /** What was kept under this name; undefined when nothing was. EMSGSIZE past `bytesMax`. */
  readKept(name: string, bytesMax: number): string | undefined;
  /**
   * Replaces a file of `context/`, atomically but not durably; throws when that fails. It is there
   * for the next process, and gone or old after a loss of power.
   */
  keep(name: string, text: string): void;
  close(): Promise<void>;
}
