// A kill can stop a write(2) between two pages and leave half a line. The writer marks its durable
// lengths in the lock file, so after its death on the same boot it is known which bytes were never
// durable and never acknowledged. Only such an unfinished line is moved aside, into a file beside the
// log, and the move is recorded. Without that proof half a line stays an error of the session.

import { closeSync, fstatSync, fsyncSync } from "node:fs";
import { type FileOwner, openBeneath, writeAll } from "../os/mod.ts";
import { recordBytesMax } from "./bounds.ts";
import type { FileCalls } from "./durable-file.ts";
import { giveTo, type Root, withFolder } from "./folders.ts";
import { readTail, wholeLines } from "./lines.ts";
import type { HeldLock } from "./lock.ts";
import type { LogFiles } from "./reader.ts";
import type { Entry } from "./records.ts";

export interface DurableLengths {
  readonly events: number;
  readonly messages: number;
}

export function markLengths(lock: HeldLock, { events, messages }: DurableLengths): void {
  lock.mark(`${events} ${messages}`);
}

function markedLengths(lock: HeldLock): DurableLengths | undefined {
  const numbers = /^(\d+) (\d+)$/.exec(lock.left ?? "");
  if (numbers === null) return undefined;
  return { events: Number(numbers[1]), messages: Number(numbers[2]) };
}

export interface TornOptions {
  readonly root: Root;
  readonly owner: FileOwner;
  readonly calls: FileCalls;
  now(): Date;
}

/** Moves provably unacknowledged half lines aside; gives the records that say so. */
export async function setTornAside(
  files: LogFiles,
  lock: HeldLock,
  options: TornOptions,
): Promise<Entry[]> {
  const durable = markedLengths(lock);
  if (durable === undefined) return [];
  const repairs = [
    await setAside(files.messages, files.messagesFile, durable.messages, options),
    await setAside(files.events, files.eventsFile, durable.events, options),
  ];
  return repairs.filter((one) => one !== undefined);
}

async function setAside(
  fd: number,
  file: string,
  durable: number,
  { root, owner, calls, now }: TornOptions,
): Promise<Entry | undefined> {
  const { size } = fstatSync(fd);
  const whole = wholeLines(fd, size, recordBytesMax);
  // Half a line that begins before the durable length is damage, not a cut write.
  if (whole === size || whole < durable) return undefined;
  const torn = `${file}.torn-${now().toISOString().replaceAll(":", "")}`;
  const copy = openBeneath(root.fd, torn, "create", 0o600);
  try {
    giveTo(copy, owner);
    writeAll(copy, readTail(fd, whole, size));
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
  withFolder(root, torn.slice(0, torn.lastIndexOf("/")), fsyncSync);
  calls.cut(fd, whole);
  await calls.sync(fd);
  const name = torn.slice(torn.lastIndexOf("/") + 1);
  const text = `a write cut by a kill: ${size - whole} bytes at ${whole} moved to ${name}`;
  return { event: { type: "session.repair", text } };
}
