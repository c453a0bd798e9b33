// Reads records by position. The two files are walked in step: each `message` event takes the next
// line of messages.jsonl, so a position is one sequence number and two offsets.

import { readBatchBytes, recordFormat } from "./bounds.ts";
import { type JsonLine, JsonLines } from "./lines.ts";
import { eventFault, messageFault } from "./record-shape.ts";
import type { Cursor, EventRecord, MessageRecord, ReadResult, StoredRecord } from "./records.ts";

export interface LogFiles {
  readonly events: number;
  readonly messages: number;
  /** Names for faults, relative to the tree. */
  readonly eventsFile: string;
  readonly messagesFile: string;
}

/** Walks both files from a position and checks every line on the way. */
export class RecordWalk {
  readonly #events: JsonLines;
  readonly #messages: JsonLines;
  #seq: number;
  #messageSeq = 0;

  constructor(
    files: LogFiles,
    from: Cursor,
    end: { readonly events: number; readonly messages: number },
    chunk: number,
  ) {
    this.#events = new JsonLines(files.events, files.eventsFile, from.events, end.events, chunk);
    this.#messages = new JsonLines(
      files.messages,
      files.messagesFile,
      from.messages,
      end.messages,
      chunk,
    );
    this.#seq = from.seq;
  }

  get cursor(): Cursor {
    return { seq: this.#seq, events: this.#events.offset, messages: this.#messages.offset };
  }

  /** The next record, or undefined at the end of events.jsonl. Throws EIO naming the place. */
  next(): StoredRecord | undefined {
    const line = this.#events.next();
    if (line === undefined) return undefined;
    const event = this.#checkEvent(line);
    this.#seq = event.seq;
    if (event.type !== "message") return { event, message: undefined };
    const message = this.nextMessage();
    if (message === undefined || message.seq !== event.seq || message.id !== event.message) {
      throw this.#events.fault(`message ${JSON.stringify(event.message)} has no line`, line);
    }
    return { event, message };
  }

  /** The next line of messages.jsonl on its own; what is left after the events has none yet. */
  nextMessage(): MessageRecord | undefined {
    const line = this.#messages.next();
    if (line === undefined) return undefined;
    const { seq } = line.value;
    const fault = messageFault(line.value);
    if (fault !== undefined || !Number.isSafeInteger(seq) || (seq as number) <= this.#messageSeq) {
      const because = fault ?? "its seq is not above the one before";
      throw this.#messages.fault(`the line is not a message in sequence: ${because}`, line);
    }
    this.#messageSeq = seq as number;
    return line.value as unknown as MessageRecord;
  }

  #checkEvent(line: JsonLine): EventRecord {
    const { seq, format } = line.value;
    if (typeof format === "number" && format > recordFormat) {
      throw this.#events.fault(`the record has format ${format}, newer than this program`, line);
    }
    if (seq !== this.#seq + 1) {
      const found = JSON.stringify(seq) ?? "nothing";
      throw this.#events.fault(`seq is ${found} where ${this.#seq + 1} must follow`, line);
    }
    const fault = eventFault(line.value);
    if (fault !== undefined) throw this.#events.fault(fault, line);
    return line.value as unknown as EventRecord;
  }
}

/** One bounded batch of records after `from`. */
export function readRecords(
  files: LogFiles,
  from: Cursor,
  end: { readonly events: number; readonly messages: number },
): ReadResult {
  const walk = new RecordWalk(files, from, end, readBatchBytes);
  const records: StoredRecord[] = [];
  for (;;) {
    const { events, messages } = walk.cursor;
    const bytes = events - from.events + (messages - from.messages);
    if (records.length > 0 && bytes >= readBatchBytes) break;
    const record = walk.next();
    if (record === undefined) break;
    records.push(record);
  }
  return { records, cursor: walk.cursor };
}

/** The position right after record `seq`, reached from a nearer one. */
export function walkTo(
  files: LogFiles,
  from: Cursor,
  end: { readonly events: number; readonly messages: number },
  seq: number,
): Cursor {
  const walk = new RecordWalk(files, from, end, readBatchBytes);
  while (walk.cursor.seq < seq && walk.next() !== undefined) {
    // Every record between the index entry and the wanted one is passed.
  }
  return walk.cursor;
}
