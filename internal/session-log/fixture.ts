// What the tests of this folder share: a throw-away tree with a runtime folder, and drafts.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FileCalls, fileCalls } from "./durable-file.ts";
import { closeRoot, openRoot, type Root } from "./folders.ts";
import { type LockFolder, openLockFolder } from "./lock.ts";
import { type OpenOptions, openSessionLog } from "./open.ts";
import type { Entry, SessionLog, StoredRecord } from "./records.ts";

export const relative = "home/1000/agent/coder/session/default";
export const run = `ctx-${"a".repeat(32)}`;
export const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

export interface Place {
  readonly root: Root;
  readonly locks: LockFolder;
  readonly folder: string;
  readonly session: string;
  close(): void;
}

export function place(parent = tmpdir()): Place {
  const folder = mkdtempSync(join(parent, "session-log-"));
  const source = join(folder, "tree");
  mkdirSync(source);
  const root = openRoot(source);
  const locks = openLockFolder(join(folder, "run"));
  return {
    root,
    locks,
    folder,
    session: join(root.path, relative),
    close() {
      locks.close();
      closeRoot(root);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Opened {
  readonly log: SessionLog;
  readonly visited: StoredRecord[];
  readonly published: StoredRecord[];
  readonly failures: string[];
}

export async function open(at: Place, extra: Partial<OpenOptions> = {}): Promise<Opened> {
  const visited: StoredRecord[] = [];
  const published: StoredRecord[] = [];
  const failures: string[] = [];
  const log = await openSessionLog({
    root: at.root,
    locks: at.locks,
    relative,
    owner,
    identity: { agent: "coder", session: "default" },
    create: true,
    now: () => new Date("2026-06-22T12:00:00.123Z"),
    visit: (record) => visited.push(record),
    published: (records) => published.push(...records),
    failed: (error) => failures.push(error.code),
    ...extra,
  });
  return { log, visited, published, failures };
}

export const call: Entry = { event: { type: "tool.call", run, object: "tool/fs.read" } };

export function said(text: string): Entry {
  return { event: { type: "message", run, role: "assistant" }, text };
}

export function accepted(request: string): Entry[] {
  return [
    { event: { type: "request.accepted", run, request, digest: "d" } },
    { event: { type: "message", run, role: "user" }, text: `input of ${request}` },
  ];
}

/** Counts the syncs and lets a test fail any of the three calls. */
export function watchedCalls(change: Partial<FileCalls> = {}): FileCalls & { syncs: number } {
  const calls = {
    ...fileCalls,
    ...change,
    syncs: 0,
  };
  const sync = calls.sync;
  calls.sync = (fd) => {
    calls.syncs += 1;
    return sync(fd);
  };
  return calls;
}
