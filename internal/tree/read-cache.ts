// Texts of a tree's files, kept by the identity of the file they were read from: device, inode, size,
// and both times to the nanosecond. Looking at a file costs a tenth of reading it, and a decision
// looks at dozens. A file that is replaced or rewritten has another identity, so nothing stale is
// ever given; an absence is kept by the identity of the folder in which the name was not found.

import { dirname } from "node:path";
import { lookAt, lookPath } from "../os/mod.ts";
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
  readonly paths: Paths;
  readonly absent: boolean;
  readonly stamp: Buffer;
  /** Undefined for a name that was not there. */
  readonly text: string | undefined;
}

interface Paths {
  readonly file: Uint8Array;
  readonly folder: Uint8Array;
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
  const known = entries.get(relative);
  if (known !== undefined && same(known)) return known.text;
  const before = look(known?.paths ?? pathsOf(tree, relative));
  const text = read();
  // Looked at before and after the reading: what is kept was read from this very file.
  const settled =
    before !== undefined && (text === undefined) === before.absent && same({ ...before, text });
  entries.delete(relative);
  if (settled && (text?.length ?? 0) <= keptCharsMax) {
    if (entries.size >= entriesMax) entries.delete(entries.keys().next().value as string);
    entries.set(relative, { ...before, text });
  }
  return text;
}

function pathsOf(tree: Tree, relative: string): Paths {
  const file = `${tree.source}/${relative}`;
  return { file: lookPath(file), folder: lookPath(dirname(file)) };
}

function same({ paths, absent, stamp }: Entry): boolean {
  const found = lookAt(paths.file);
  if ((found === "absent") !== absent) return false;
  const seen = absent ? lookAt(paths.folder) : found;
  return typeof seen === "object" && stamp.equals(seen.bytes);
}

/** Undefined for what is neither a settled regular file nor an absence: that is never kept. */
function look(paths: Paths): Omit<Entry, "text"> | undefined {
  const found = lookAt(paths.file);
  const absent = found === "absent";
  const seen = absent ? lookAt(paths.folder) : found;
  if (typeof seen !== "object" || seen.kind !== (absent ? "folder" : "file")) return undefined;
  if (seen.changeTime() + settledNs >= BigInt(Date.now()) * 1_000_000n) return undefined;
  return { paths, absent, stamp: Buffer.from(seen.bytes) };
}
