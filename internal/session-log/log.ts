// The writer of one session's two files. Everything that waits shares one write and one fdatasync
// (group commit); message lines are durable before the events that name them; nothing is published
// or acknowledged before it is durable. A failed write is taken back and fails its batches only. A
// failed sync, a lost lock or a foreign writer ends the log: nothing is acknowledged any more.

import { type Code, CodedError, coded } from "../abi/mod.ts";
import { DurableFile } from "./durable-file.ts";
import { type EncodedRecord, encodeBatch, joinLines, messageBytes } from "./encode.ts";
import { takeGroup } from "./group.ts";
import type { FileLogParts } from "./log-parts.ts";
import { readRecords, walkTo } from "./reader.ts";
import type { Batch, ChunkRef, Cursor, EventRecord, ReadResult, SessionLog } from "./records.ts";
import { markLengths } from "./torn.ts";

interface Waiting {
  readonly batch: Batch;
  resolve(records: readonly EventRecord[]): void;
  reject(error: CodedError): void;
}

interface Encoded {
  readonly waiting: Waiting;
  readonly records: readonly EncodedRecord[];
}

export class FileLog implements SessionLog {
  readonly #parts: FileLogParts;
  readonly #events: DurableFile;
  readonly #messages: DurableFile;
  readonly #waiting: Waiting[] = [];
  #head: number;
  #failure: CodedError | undefined;
  #pumping: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: FileLogParts) {
    this.#parts = parts;
    this.#head = parts.end.seq;
    this.#events = new DurableFile(parts.files.events, parts.end.events, parts.calls);
    this.#messages = new DurableFile(parts.files.messages, parts.end.messages, parts.calls);
    markLengths(parts.lock, this.#end());
  }

  get head(): number {
    return this.#head;
  }

  get folder(): string {
    return this.#parts.folder;
  }

  get inPlace(): boolean {
    return this.#parts.inPlace();
  }

  appendDurable(batch: Batch): Promise<readonly EventRecord[]> {
    // A claim that fails is looked at by the commit; unobserved until then it must not be "unhandled".
    batch.claim?.catch(() => undefined);
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#closing !== undefined) return Promise.reject(closedError(this.folder));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject });
      this.#pumping ??= this.#pump();
    });
  }

  locate(seq: number): Cursor {
    const from = this.#parts.index.nearest(seq);
    return from.seq === seq ? from : walkTo(this.#parts.files, from, this.#end(), seq);
  }

  read(cursor: Cursor): ReadResult {
    if (cursor.seq >= this.#head) return { records: [], cursor };
    if (this.#closing !== undefined) throw closedError(this.folder);
    return readRecords(this.#parts.files, cursor, this.#end());
  }

  keepChunk(bytes: Uint8Array): Promise<ChunkRef> {
    return this.#parts.keepChunk(bytes);
  }

  derive(files: Readonly<Record<string, string>>, delayMs: number): void {
    this.#parts.derive(files, delayMs);
  }

  readKept(name: string, bytesMax: number): string | undefined {
    return this.#parts.readKept(name, bytesMax);
  }

  keep(name: string, text: string): void {
    // A session that was removed is not made again by what its last run leaves.
    if (this.#closing !== undefined || !this.inPlace) throw closedError(this.folder);
    this.#parts.keep(name, text);
  }

  /** Waits for what was appended before, then gives up the files and the lock. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#pumping;
      this.#events.close();
      this.#messages.close();
      this.#parts.closed();
    })();
    return this.#closing;
  }

  #end() {
    return { events: this.#events.size, messages: this.#messages.size };
  }

  async #pump(): Promise<void> {
    // Callers of the same turn join the first group.
    await Promise.resolve();
    while (this.#waiting.length > 0) await this.#commit(takeGroup(this.#waiting));
    this.#pumping = undefined;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    let rest = group;
    while (rest.length > 0) {
      const failure = this.#failure ?? this.#check();
      if (failure !== undefined) {
        this.#fail(failure);
        for (const one of rest) one.reject(failure);
        return;
      }
      const encoded = this.#encode(rest);
      rest = encoded.map((one) => one.waiting);
      const unclaimed = await this.#writeMessages(encoded);
      if (unclaimed === undefined) break;
      rest = rest.filter((one) => !unclaimed.has(one));
      if (unclaimed.size === 0) {
        await this.#writeEvents(encoded);
        return;
      }
    }
  }

  /** Why nothing may be written any more, looked at before each group. */
  #check(): CodedError | undefined {
    try {
      if (!this.#parts.lock.held()) {
        return failure("session_locked", `the lock of "${this.folder}" was lost`);
      }
      if (!this.#parts.inPlace()) {
        return failure("session_locked", `the log in "${this.folder}" was removed or replaced`);
      }
      if (!this.#events.untouched || !this.#messages.untouched) {
        return failure("EIO", `somebody else wrote to the log in "${this.folder}"`);
      }
      return undefined;
    } catch (error) {
      return failure("EIO", `the log in "${this.folder}" cannot be checked: ${message(error)}`);
    }
  }

  /** Batches with a record past its bound are refused here and use no sequence number. */
  #encode(group: readonly Waiting[]): Encoded[] {
    const ts = this.#parts.now().toISOString();
    const encoded: Encoded[] = [];
    let seq = this.#head + 1;
    for (const waiting of group) {
      try {
        const records = encodeBatch(waiting.batch, seq, ts, this.#parts.identity);
        encoded.push({ waiting, records });
        seq += records.length;
      } catch (error) {
        waiting.reject(coded(error));
      }
    }
    return encoded;
  }

  /**
   * Makes the message lines durable while the claims become so. Gives the batches whose claim
   * failed (then nothing of the group is kept and the others try again), or undefined when the
   * whole group was refused.
   */
  async #writeMessages(encoded: readonly Encoded[]): Promise<Set<Waiting> | undefined> {
    const lines = encoded.flatMap((one) => one.records.map((record) => record.messageLine));
    const bytes = joinLines(lines);
    const before = this.#messages.size;
    try {
      this.#messages.write(bytes);
    } catch (error) {
      await this.#takeBack(before, encoded, error);
      return undefined;
    }
    const claims = encoded.map(async ({ waiting }) => {
      try {
        await waiting.batch.claim;
        return undefined;
      } catch (error) {
        return { waiting, error: coded(error) };
      }
    });
    const [synced, ...outcomes] = await Promise.all([
      bytes.length === 0 ? undefined : this.#sync(this.#messages),
      ...claims,
    ]);
    if (synced !== undefined) {
      for (const { waiting } of encoded) waiting.reject(synced);
      return undefined;
    }
    const unclaimed = new Set<Waiting>();
    for (const outcome of outcomes) {
      if (outcome === undefined) continue;
      unclaimed.add(outcome.waiting);
      outcome.waiting.reject(outcome.error);
    }
    if (unclaimed.size > 0 && bytes.length > 0) {
      const error = failure("EIO", "a request could not be claimed");
      const kept = encoded.filter(({ waiting }) => !unclaimed.has(waiting));
      if (!(await this.#cutMessages(before, kept, error))) return undefined;
    }
    return unclaimed;
  }

  async #writeEvents(encoded: readonly Encoded[]): Promise<void> {
    const records = encoded.flatMap((one) => one.records);
    const messagesBefore = this.#messages.size - messageBytes(records);
    try {
      this.#events.write(joinLines(records.map((one) => one.eventLine)));
    } catch (error) {
      await this.#takeBack(messagesBefore, encoded, error);
      return;
    }
    let position: Cursor = { seq: this.#head, events: this.#events.size, messages: messagesBefore };
    const failed = await this.#sync(this.#events);
    if (failed !== undefined) {
      for (const { waiting } of encoded) waiting.reject(failed);
      return;
    }
    for (const record of records) {
      position = {
        seq: record.event.seq,
        events: position.events + record.eventLine.length,
        messages: position.messages + (record.messageLine?.length ?? 0),
      };
      this.#parts.index.add(position);
    }
    this.#head = position.seq;
    markLengths(this.#parts.lock, this.#end());
    this.#parts.published(records.map(({ event, message }) => ({ event, message })));
    for (const { waiting, records } of encoded) waiting.resolve(records.map((one) => one.event));
  }

  async #sync(file: DurableFile): Promise<CodedError | undefined> {
    try {
      await file.sync();
      return undefined;
    } catch (error) {
      const because = `fdatasync in "${this.folder}" failed: ${message(error)}`;
      const poisoned = failure("EIO", `nothing more can be acknowledged: ${because}`);
      this.#fail(poisoned);
      return poisoned;
    }
  }

  /** After a short or failed write: both files go back to what is durable, the batches fail. */
  async #takeBack(messages: number, encoded: readonly Encoded[], cause: unknown): Promise<void> {
    const code = coded(cause).code === "ENOSPC" ? "ENOSPC" : "EIO";
    const error = failure(code, `cannot write to "${this.folder}": ${message(cause)}`);
    if (!(await this.#cutMessages(messages, encoded, error))) return;
    for (const { waiting } of encoded) waiting.reject(error);
  }

  /** False when even that failed: the log is then over and everybody was told. */
  async #cutMessages(size: number, encoded: readonly Encoded[], cause: CodedError) {
    try {
      await this.#messages.cutBack(size);
      await this.#events.cutBack(this.#events.size);
      return true;
    } catch (error) {
      const reason = `${cause.message}, and it cannot be taken back: ${message(error)}`;
      const poisoned = failure("EIO", reason);
      this.#fail(poisoned);
      for (const { waiting } of encoded) waiting.reject(poisoned);
      return false;
    }
  }

  #fail(error: CodedError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#parts.failed(error);
  }
}

function closedError(folder: string): CodedError {
  return failure("EHOSTDOWN", `the log in "${folder}" is closed`);
}

function failure(code: Code, text: string): CodedError {
  return new CodedError(code, text);
}

function message(error: unknown): string {
  return coded(error).message;
}
