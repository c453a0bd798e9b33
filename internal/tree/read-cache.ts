// Texts of a tree's files, kept by the identity of the file they were read from: device, inode, size,
// and both times to the nanosecond. Looking at a file costs a tenth of reading it, and a decision
// looks at dozens. A file that is replaced or rewritten has another identity, so nothing stale is
// ever given; an absence is kept by the identity of the folder in which the name was not found.

import { type BigIntStats, lstatSync } from "node:fs";
import { dirname } from "node:path";
import type { Tree } from "./open.ts";

/** Entries of one tree. Past it the oldest is forgotten. */
const entriesMax = 4096;

/** Characters of a text that is kept; longer ones are read each time. */
const keptCharsMax = 64 * 1024;

/**
 * A file that changed so recently could change again within one tick of the file system's clock and
 * keep its times: it is not kept yet.
 */
const settledNs = 50_000_000n;

interface Entry {
  readonly identity: string;
  /** Undefined for a name that was not there. */
  readonly text: string | undefined;
}

const caches = new WeakMap<Tree, Map<string, Entry>>();

/**
 * The text at `relative` as `read` gives it, or as it was when the file looked exactly as now.
 * `read` answers undefined for a name that is not there; what it throws is not kept.
 */
export function cachedText(
  tree: Tree,
  relative: string,
  read: () => string | undefined,
): string | undefined {
  let entries = caches.get(tree);
  if (entries === undefined) {
    entries = new Map();
    caches.set(tree, entries);
  }
  const before = look(tree, relative);
  const entry = entries.get(relative);
  if (entry !== undefined && before !== undefined && entry.identity === before.identity) {
    return entry.text;
  }
  const text = read();
  if (before?.settled && (text === undefined) === before.absent) {
    // Looked at before and after the reading: what is kept was read from this very file.
    const same = look(tree, relative)?.identity === before.identity;
    if (same && (text?.length ?? 0) <= keptCharsMax) keep(entries, relative, before.identity, text);
    else entries.delete(relative);
  } else {
    entries.delete(relative);
  }
  return text;
}

function keep(
  entries: Map<string, Entry>,
  relative: string,
  identity: string,
  text: string | undefined,
): void {
  entries.delete(relative);
  if (entries.size >= entriesMax) entries.delete(entries.keys().next().value as string);
  entries.set(relative, { identity, text });
}

interface Look {
  readonly identity: string;
  readonly absent: boolean;
  readonly settled: boolean;
}

/** Undefined for what is neither a regular file nor an absence: that is never kept. */
function look(tree: Tree, relative: string): Look | undefined {
  const path = `${tree.source}/${relative}`;
  try {
    const facts = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (facts?.isFile()) return lookOf("file", facts);
    if (facts !== undefined) return undefined;
    const folder = lstatSync(dirname(path), { bigint: true, throwIfNoEntry: false });
    return folder?.isDirectory() ? lookOf("absent", folder) : undefined;
  } catch {
    return undefined;
  }
}

function lookOf(kind: "file" | "absent", facts: BigIntStats): Look {
  const { dev, ino, size, mtimeNs, ctimeNs } = facts;
  const now = BigInt(Date.now()) * 1_000_000n;
  return {
    identity: `${kind} ${dev}:${ino} ${size} ${mtimeNs} ${ctimeNs}`,
    absent: kind === "absent",
    settled: ctimeNs + settledNs < now,
  };
}
