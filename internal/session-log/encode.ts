// From drafts to lines. Sequence numbers are given here, at the moment of writing, so that a batch
// that fails uses none. Call ids and message ids are made from them.

import { CodedError } from "../abi/mod.ts";
import { recordBytesMax } from "./bounds.ts";
import type {
  Batch,
  Entry,
  EventDraft,
  EventRecord,
  MessageRecord,
  StoredRecord,
} from "./records.ts";

const encoder = new TextEncoder();

export interface LogIdentity {
  readonly agent: string;
  readonly session: string;
}

export interface EncodedRecord extends StoredRecord {
  readonly eventLine: Uint8Array;
  readonly messageLine: Uint8Array | undefined;
}

/** Throws EMSGSIZE when a record would be longer than `recordBytesMax`. */
export function encodeBatch(
  batch: Batch,
  firstSeq: number,
  ts: string,
  identity: LogIdentity,
): EncodedRecord[] {
  const before: EventDraft[] = [];
  const encoded: EncodedRecord[] = [];
  for (const [index, entry] of batch.entries.entries()) {
    const seq = firstSeq + index;
    const record = encodeEntry(entry, before, seq, ts, identity);
    if (record.message === undefined) before.push(entry.event);
    else before.length = 0;
    encoded.push(record);
  }
  return encoded;
}

function encodeEntry(
  entry: Entry,
  before: readonly EventDraft[],
  seq: number,
  ts: string,
  identity: LogIdentity,
): EncodedRecord {
  const message = messageOf(entry, before, seq, ts);
  const event = {
    seq,
    ts,
    ...identity,
    ...entry.event,
    ...(entry.event.type === "tool.call" ? { call: `call-${seq}` } : {}),
    ...(message === undefined ? {} : { message: message.id }),
  } as EventRecord;
  const ordered = orderFields(event);
  return {
    event: ordered,
    message,
    eventLine: line(ordered),
    messageLine: message === undefined ? undefined : line(message),
  };
}

function messageOf(
  entry: Entry,
  before: readonly EventDraft[],
  seq: number,
  ts: string,
): MessageRecord | undefined {
  if (entry.event.type !== "message") return undefined;
  return {
    id: `msg-${seq}`,
    seq,
    ts,
    run: entry.event.run ?? "",
    role: entry.event.role ?? "user",
    content: [{ type: "text", text: entry.text ?? "" }],
    ...(before.length === 0 ? {} : { before: [...before] }),
  };
}

/** A person who reads the file finds the type where the spec shows it, after the time. */
function orderFields(event: EventRecord): EventRecord {
  const { seq, ts, type, agent, session, run, ...rest } = event;
  return { seq, ts, type, agent, session, ...(run === undefined ? {} : { run }), ...rest };
}

function line(value: object): Uint8Array {
  const bytes = encoder.encode(`${JSON.stringify(value)}\n`);
  if (bytes.length <= recordBytesMax) return bytes;
  throw new CodedError("EMSGSIZE", `a record of ${bytes.length} bytes exceeds ${recordBytesMax}`);
}

/** Events that stand for a message line whose own events never reached the disk. */
export function rolledForward(
  message: MessageRecord,
  identity: LogIdentity,
): { readonly first: number; readonly records: readonly EncodedRecord[] } {
  const before = message.before ?? [];
  const first = message.seq - before.length;
  const events = [
    ...before,
    { type: "message", run: message.run, role: message.role, message: message.id } as EventDraft,
  ];
  const records = events.map((draft, index) => {
    const seq = first + index;
    const event = orderFields({ seq, ts: message.ts, ...identity, ...draft } as EventRecord);
    return {
      event,
      message: draft.type === "message" ? message : undefined,
      eventLine: line(event),
      messageLine: undefined,
    };
  });
  return { first, records };
}

export function joinLines(lines: readonly (Uint8Array | undefined)[]): Uint8Array {
  let length = 0;
  for (const one of lines) length += one?.length ?? 0;
  const joined = new Uint8Array(length);
  let offset = 0;
  for (const one of lines) {
    if (one === undefined) continue;
    joined.set(one, offset);
    offset += one.length;
  }
  return joined;
}

/** Bytes of the message lines among these records. */
export function messageBytes(records: readonly EncodedRecord[]): number {
  return records.reduce((sum, one) => sum + (one.messageLine?.length ?? 0), 0);
}
