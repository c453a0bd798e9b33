// The log of a temporary session: the same order and the same numbers, nothing on disk. It ends
// with the process or when the session is dropped.

import { createHash } from "node:crypto";
import { CodedError } from "../abi/mod.ts";
import { memoryLogBytesMax, readBatchBytes } from "./bounds.ts";
import { encodeBatch, type LogIdentity } from "./encode.ts";
import type { LogCallbacks } from "./log-parts.ts";
import type {
  Batch,
  ChunkRef,
  Cursor,
  EventRecord,
  ReadResult,
  SessionLog,
  StoredRecord,
} from "./records.ts";

export class MemoryLog implements SessionLog {
  readonly folder = undefined;
  readonly inPlace = true;
  readonly #records: StoredRecord[] = [];
  readonly #sizes: number[] = [];
  readonly #kept = new Map<string, string>();
  readonly #identity: LogIdentity;
  readonly #callbacks: Pick<LogCallbacks, "published">;
  readonly #now: () => Date;
  #bytes = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(identity: LogIdentity, callbacks: Pick<LogCallbacks, "published">, now: () => Date) {
    this.#identity = identity;
    this.#callbacks = callbacks;
    this.#now = now;
  }

  get head(): number {
    return this.#records.length;
  }

  appendDurable(batch: Batch): Promise<readonly EventRecord[]> {
    // In order of the calls, also when one waits for its claim.
    const appended = this.#turn.then(async () => {
      await batch.claim;
      return this.#append(batch);
    });
    this.#turn = appended.catch(() => undefined);
    return appended;
  }

  locate(seq: number): Cursor {
    return { seq, events: seq, messages: seq };
  }

  read(cursor: Cursor): ReadResult {
    const records: StoredRecord[] = [];
    let seq = cursor.seq;
    for (let bytes = 0; bytes < readBatchBytes; seq++) {
      const record = this.#records[seq];
      if (record === undefined) break;
      records.push(record);
      bytes += this.#sizes[seq] ?? 0;
    }
    return { records, cursor: this.locate(seq) };
  }

  /** A temporary session keeps no spilled output; its hash still names what was seen. */
  async keepChunk(bytes: Uint8Array): Promise<ChunkRef> {
    return { sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
  }

  derive(): void {
    // It has no files.
  }

  readKept(name: string): string | undefined {
    return this.#kept.get(name);
  }

  keep(name: string, text: string): void {
    this.#kept.set(name, text);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn;
  }

  #append(batch: Batch): readonly EventRecord[] {
    const subject = `temporary session "${this.#identity.session}"`;
    if (this.#closed) throw new CodedError("EHOSTDOWN", `${subject} is closed`);
    const ts = this.#now().toISOString();
    const encoded = encodeBatch(batch, this.head + 1, ts, this.#identity);
    const sizes = encoded.map((one) => one.eventLine.length + (one.messageLine?.length ?? 0));
    const bytes = sizes.reduce((sum, size) => sum + size, this.#bytes);
    if (bytes > memoryLogBytesMax) {
      throw new CodedError("ENOSPC", `${subject} is full: it may hold ${memoryLogBytesMax} bytes`);
    }
    this.#bytes = bytes;
    const stored = encoded.map(({ event, message }) => ({ event, message }));
    this.#records.push(...stored);
    this.#sizes.push(...sizes);
    this.#callbacks.published(stored);
    return stored.map((one) => one.event);
  }
}
