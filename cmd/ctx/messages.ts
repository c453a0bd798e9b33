// The messages of a session, newest first, read from the end of the file: asking for the last answer
// costs the same in a long session as in a short one.

import { closeSync, fstatSync, readSync } from "node:fs";
import { coded, fail } from "../../internal/abi/mod.ts";
import { openBeneath, openPath } from "../../internal/os/mod.ts";
import type { MessageRecord } from "../../internal/session-log/mod.ts";

/** Bytes read at once, going backwards. */
const chunkBytes = 64 * 1024;

/** One message line. Past it the file counts as damaged: EIO. */
const lineBytesMax = 8 * 1024 * 1024;

export interface SessionPlace {
  readonly agent: string;
  readonly session: string;
  /** Host path of the folder that holds `session/`. */
  readonly home: string;
}

/** Whole messages: a long one is kept as lines that follow each other, and is put together here. */
export function* newestMessages(place: SessionPlace): Generator<MessageRecord, void> {
  let later: MessageRecord | undefined;
  for (const record of newestRecords(place)) {
    if (later !== undefined && isPieceBefore(record, later)) {
      later = { ...record, content: [...record.content, ...later.content] };
      continue;
    }
    if (later !== undefined) yield later;
    later = record;
  }
  if (later !== undefined) yield later;
}

function isPieceBefore(record: MessageRecord, later: MessageRecord): boolean {
  const { role, run, seq } = record;
  return role === "assistant" && later.role === role && later.run === run && later.seq === seq + 1;
}

function* newestRecords(place: SessionPlace): Generator<MessageRecord, void> {
  const fd = openMessages(place);
  try {
    for (const line of linesBackwards(fd)) {
      const record = parseRecord(line);
      // A last line without its end is still being written.
      if (record !== undefined) yield record;
    }
  } finally {
    closeSync(fd);
  }
}

/** Opened below its home without following a symlink: the agent can write parts of it. */
function openMessages({ agent, home, session }: SessionPlace): number {
  const subject = `session "${session}" of agent "${agent}"`;
  let folder: number | undefined;
  try {
    folder = openPath(home, "folder");
    return openBeneath(folder, `session/${session}/messages.jsonl`, "read");
  } catch (error) {
    const { code, message } = coded(error);
    if (code === "ENOENT") return fail("ENOENT", `${subject} has no messages`);
    return fail(code, `cannot read ${subject}: ${message}`, { cause: error });
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

function* linesBackwards(fd: number): Generator<Uint8Array, void> {
  let position = fstatSync(fd).size;
  let rest = new Uint8Array(0);
  while (position > 0) {
    const length = Math.min(chunkBytes, position);
    position -= length;
    const joined = new Uint8Array(length + rest.length);
    readSync(fd, joined, 0, length, position);
    joined.set(rest, length);
    let end = joined.length;
    for (let at = joined.lastIndexOf(10, end - 1); at >= 0; at = joined.lastIndexOf(10, at - 1)) {
      if (at + 1 < end) yield joined.subarray(at + 1, end);
      end = at;
      if (at === 0) break;
    }
    rest = joined.slice(0, end);
    if (rest.length > lineBytesMax)
      fail("EIO", `a message line is longer than ${lineBytesMax} bytes`);
  }
  if (rest.length > 0) yield rest;
}

function parseRecord(line: Uint8Array): MessageRecord | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(line)) as MessageRecord;
  } catch {
    return undefined;
  }
}

export function textOf(record: MessageRecord): string {
  return record.content.map((part) => part.text).join("");
}
