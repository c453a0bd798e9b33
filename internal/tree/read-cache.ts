// Texts of a tree's files, kept by the stamp of the file they were read from. Looking at a file costs
// a tenth of reading it, and a decision looks at dozens. A file that is replaced or rewritten has
// another stamp, so nothing stale is ever given. Its folder is reached anew at each look, without a
// symlink; a name that is not in it is absent, which nobody has to remember.

import { closeSync } from "node:fs";
import { basename, dirname } from "node:path/posix";
import { changeTime, lookPath, openToLook, stampBytes, stampIn } from "../os/mod.ts";
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
  readonly folder: Uint8Array;
  readonly name: Uint8Array;
  readonly stamp: Buffer;
  readonly text: string;
}

const caches = new WeakMap<object, Map<string, Entry>>();

/** Overwritten by every look. */
const seen = Buffer.alloc(stampBytes);

/**
 * The text at `relative` as `read` gives it, or as it was when the file looked exactly as now; undefined
 * for a name that is not there. `read` gets the very folder that was looked in, which is `among` when that
 * is given; undefined when it could not be reached, and then finds out why. What it throws is not kept.
 */
export function cachedText(
  tree: Pick<Tree, "folder">,
  relative: string,
  read: (folder: number | undefined) => string | undefined,
  among?: number,
): string | undefined {
  const entries = cacheOf(tree);
  const known = entries.get(relative);
  const paths = known ?? pathsOf(relative);
  const folder = among ?? openToLook(tree.folder, paths.folder);
  if (folder === undefined) return read(undefined);
  try {
    const before = stampIn(folder, paths.name, seen, 0);
    if (before === "absent") return undefined;
    if (known?.stamp.equals(seen)) return known.text;
    entries.delete(relative);
    const stamp = Buffer.from(seen);
    const text = read(folder);
    // Looked at before and after the reading: what is kept was read from this very file.
    const same = before === "file" && stampIn(folder, paths.name, seen, 0) === "file";
    if (!same || !stamp.equals(seen) || !settled(stamp, 0)) return text;
    if (text === undefined || text.length > keptCharsMax) return text;
    if (entries.size >= entriesMax) entries.delete(entries.keys().next().value as string);
    entries.set(relative, { folder: paths.folder, name: paths.name, stamp, text });
    return text;
  } finally {
    if (among === undefined) closeSync(folder);
  }
}

function pathsOf(relative: string): Pick<Entry, "folder" | "name"> {
  return { folder: lookPath(dirname(relative)), name: lookPath(basename(relative)) };
}

function cacheOf(tree: object): Map<string, Entry> {
  let entries = caches.get(tree);
  if (entries === undefined) {
    entries = new Map();
    caches.set(tree, entries);
  }
  return entries;
}

/** Whether another change would give the file another stamp. */
export function settled(stamps: Buffer, at: number): boolean {
  return changeTime(stamps, at) + settledNs < BigInt(Date.now()) * 1_000_000n;
}
