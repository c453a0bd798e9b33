// What a log on disk is made of, put together by whoever opens it.

import type { CodedError } from "../abi/mod.ts";
import type { FileCalls } from "./durable-file.ts";
import type { LogIdentity } from "./encode.ts";
import type { HeldLock } from "./lock.ts";
import type { OffsetIndex } from "./offset-index.ts";
import type { LogFiles } from "./reader.ts";
import type { ChunkRef, Cursor, StoredRecord } from "./records.ts";

export interface LogCallbacks {
  /** Told every group of records right after it is durable and before any append resolves. */
  published(records: readonly StoredRecord[]): void;
  /** Told once when the log has failed for good. */
  failed(error: CodedError): void;
}

export interface FileLogParts extends LogCallbacks {
  readonly files: LogFiles;
  readonly end: Cursor;
  readonly index: OffsetIndex;
  readonly lock: HeldLock;
  readonly identity: LogIdentity;
  readonly folder: string;
  readonly calls: FileCalls;
  now(): Date;
  /** Whether both files still have their names. */
  inPlace(): boolean;
  keepChunk(bytes: Uint8Array): Promise<ChunkRef>;
  derive(files: Readonly<Record<string, string>>, delayMs: number): void;
  readKept(name: string, bytesMax: number): string | undefined;
  keep(name: string, text: string): void;
  closed(): void;
}
