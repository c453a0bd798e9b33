// Opens or makes one session's log: the lock first, then both files from their start to their end,
// every line checked. A tail that cannot be proven is an error of this session and changes nothing;
// a whole message line whose event is missing is finished, because its event was due.

import { closeSync, fstatSync } from "node:fs";
import { CodedError, coded } from "../abi/mod.ts";
import { type FileOwner, lookPath } from "../os/mod.ts";
import { rollForwardMax, scanChunkBytes } from "./bounds.ts";
import { keepChunk } from "./chunk.ts";
import { readContextFile, writeContextFile } from "./context-file.ts";
import { DerivedFiles } from "./derived.ts";
import { DurableFile, type FileCalls, fileCalls } from "./durable-file.ts";
import { joinLines, type LogIdentity, rolledForward } from "./encode.ts";
import { makeFolders, pathError, type Root } from "./folders.ts";
import type { HeldLock, LockFolder } from "./lock.ts";
import { FileLog } from "./log.ts";
import { hasItsName, logFileSize, openLogFile } from "./log-file.ts";
import type { LogCallbacks } from "./log-parts.ts";
import { OffsetIndex } from "./offset-index.ts";
import { type LogFiles, RecordWalk } from "./reader.ts";
import { type Cursor, type SessionLog, type StoredRecord, startCursor } from "./records.ts";
import { setTornAside } from "./torn.ts";

/** Bytes of log checked before the event loop gets a turn. */
const scanTurnBytes = 1024 * 1024;

export interface OpenOptions extends LogCallbacks {
  readonly root: Root;
  /** The session's folder, relative to the tree. */
  readonly relative: string;
  readonly owner: FileOwner;
  readonly identity: LogIdentity;
  readonly locks: LockFolder;
  /** False: ENOENT when there is no log yet. */
  readonly create: boolean;
  readonly calls?: FileCalls;
  now(): Date;
  /** Told every record that the log holds already, in order, before the open resolves. */
  visit(record: StoredRecord): void;
}

export async function openSessionLog(options: OpenOptions): Promise<SessionLog> {
  const { root, relative, owner, identity } = options;
  if (!logExists(root, relative) && !options.create) {
    throw new CodedError("ENOENT", `session "${identity.session}" does not exist`);
  }
  const subject = `session "${identity.session}" of agent "${identity.agent}"`;
  const lock = options.locks.take(`${root.path}/${relative}`, subject);
  const opened: number[] = [];
  try {
    const files = openFiles(root, relative, owner, opened);
    const calls = options.calls ?? fileCalls;
    const repairs = await setTornAside(files, lock, { root, owner, calls, now: options.now });
    const index = new OffsetIndex();
    const end = await scan(files, index, options);
    const log = makeLog(options, files, index, end, lock);
    if (repairs.length > 0) await log.appendDurable({ entries: repairs });
    return log;
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    // The mark of a killed writer still proves something to the next try.
    if (lock.left === undefined) lock.release();
    else lock.abandon();
    throw error instanceof CodedError ? error : pathError(error, relative);
  }
}

/**
 * False for a session whose log was never begun. Throws EIO when one of its two files is gone while
 * the other has records: making it anew would only hide that.
 */
function logExists(root: Root, relative: string): boolean {
  const sizeOf = (name: string) => {
    try {
      return logFileSize(root, `${relative}/${name}`);
    } catch (error) {
      throw error instanceof CodedError ? error : pathError(error, `${relative}/${name}`);
    }
  };
  const events = sizeOf("events.jsonl");
  const messages = sizeOf("messages.jsonl");
  const missing = (name: string, other: string) =>
    new CodedError("EIO", `"${relative}/${name}" is missing while "${other}" has records`, {
      hint: "nothing was changed; put the file back or move the whole session away",
    });
  if (events === undefined && messages) throw missing("events.jsonl", "messages.jsonl");
  if (messages === undefined && events) throw missing("messages.jsonl", "events.jsonl");
  return events !== undefined;
}

function openFiles(root: Root, relative: string, owner: FileOwner, opened: number[]): LogFiles {
  makeFolders(root, relative, owner);
  const eventsFile = `${relative}/events.jsonl`;
  const messagesFile = `${relative}/messages.jsonl`;
  const messages = openLogFile(root, messagesFile, owner);
  opened.push(messages);
  const events = openLogFile(root, eventsFile, owner);
  opened.push(events);
  return { events, messages, eventsFile, messagesFile };
}

function makeLog(
  options: OpenOptions,
  files: LogFiles,
  index: OffsetIndex,
  end: Cursor,
  lock: HeldLock,
): SessionLog {
  const { root, relative, owner, identity } = options;
  const derived = new DerivedFiles(root, relative, owner, false);
  const [eventsPath, messagesPath] = [lookPath(files.eventsFile), lookPath(files.messagesFile)];
  const inPlace = () =>
    hasItsName(root, eventsPath, files.events) && hasItsName(root, messagesPath, files.messages);
  let closed = false;
  return new FileLog({
    files,
    end,
    index,
    lock,
    identity,
    folder: `${root.path}/${relative}`,
    inPlace,
    calls: options.calls ?? fileCalls,
    now: options.now,
    published: options.published,
    failed: options.failed,
    keepChunk: (bytes) => keepChunk(root, relative, owner, bytes),
    derive(contents, delayMs) {
      // After the lock is given back the files may be somebody else's.
      if (!closed) derived.set(contents, delayMs);
    },
    readKept: (name, bytesMax) => readContextFile(root, relative, name, bytesMax),
    keep: (name, text) => writeContextFile(root, relative, owner, name, text),
    closed() {
      closed = true;
      derived.flush();
      lock.release();
    },
  });
}

async function scan(files: LogFiles, index: OffsetIndex, options: OpenOptions): Promise<Cursor> {
  const end = { events: fstatSync(files.events).size, messages: fstatSync(files.messages).size };
  const walk = new RecordWalk(files, startCursor, end, scanChunkBytes);
  let turn = 0;
  for (let record = walk.next(); record !== undefined; record = walk.next()) {
    index.add(walk.cursor);
    options.visit(record);
    if (walk.cursor.events - turn < scanTurnBytes) continue;
    turn = walk.cursor.events;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  const calls = options.calls ?? fileCalls;
  // What a killed writer left may be in memory only; it is replayed, so it must be durable first.
  await Promise.all([calls.sync(files.messages), calls.sync(files.events)]);
  return rollForward(walk, files, index, options, end.messages);
}

/** Appends the events of the message lines that are left over. */
async function rollForward(
  walk: RecordWalk,
  files: LogFiles,
  index: OffsetIndex,
  options: OpenOptions,
  messagesEnd: number,
): Promise<Cursor> {
  const lines: Uint8Array[] = [];
  const records: StoredRecord[] = [];
  let { seq, events } = walk.cursor;
  let count = 0;
  for (let start = walk.cursor.messages; ; start = walk.cursor.messages) {
    const message = walk.nextMessage();
    if (message === undefined) break;
    const rolled = rolledForward(message, options.identity);
    count += 1;
    if (rolled.first !== seq + 1 || count > rollForwardMax) {
      throw new CodedError(
        "EIO",
        `"${files.messagesFile}" is damaged at byte ${start}: message ${JSON.stringify(message.id)} ` +
          `has no event and cannot follow seq ${seq}`,
        { hint: "nothing was changed; the session stays closed until its tail is repaired" },
      );
    }
    for (const record of rolled.records) {
      seq = record.event.seq;
      events += record.eventLine.length;
      index.add({ seq, events, messages: record.message ? walk.cursor.messages : start });
      lines.push(record.eventLine);
      records.push({ event: record.event, message: record.message });
    }
  }
  if (lines.length > 0) await appendRolled(files, walk.cursor.events, lines, options);
  for (const record of records) options.visit(record);
  return { seq, events, messages: messagesEnd };
}

async function appendRolled(
  files: LogFiles,
  size: number,
  lines: readonly Uint8Array[],
  options: OpenOptions,
): Promise<void> {
  const file = new DurableFile(files.events, size, options.calls ?? fileCalls);
  try {
    file.write(joinLines(lines));
    await file.sync();
  } catch (error) {
    await file.cutBack(size).catch(() => undefined);
    const { code, message } = coded(error);
    throw new CodedError(
      code === "ENOSPC" ? "ENOSPC" : "EIO",
      `cannot finish the last message of "${files.eventsFile}": ${message}`,
      { cause: error },
    );
  }
}
