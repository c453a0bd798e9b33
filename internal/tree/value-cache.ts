// Values that are made of many files, such as an agent of its controls, kept as long as every one of
// the files looks as it did. To look costs a system call a file; to make the value anew costs the
// finding of each text and of what it says.

import { closeSync } from "node:fs";
import {
  lookPath,
  openToLook,
  type StampFacts,
  stampBytes,
  stampFacts,
  stampIn,
} from "../os/mod.ts";
import { settled } from "./read-cache.ts";

/** Values of one tree. Past it the oldest is forgotten. */
const valuesMax = 512;

/** Names in one folder, whose path is from the root of the tree, or absolute for the host's own. */
export interface Place {
  readonly folder: string;
  readonly names: readonly string[];
}

/** A tree, or the host. */
export interface Root {
  readonly folder: number;
}

/** What a value is made of, as it was seen before the making and no later. */
export interface Sight {
  /**
   * The folder of a name of one of the places, open, and what the name is in it. Undefined when nobody
   * could tell, be it for a symlink or because the folder cannot be reached: then whoever opens finds out
   * why, and the value is not kept.
   */
  of(folder: string, name: string): Found | undefined;
}

export interface Found {
  readonly folder: number;
  /** Undefined for a name that is not there. */
  readonly facts: StampFacts | undefined;
}

interface Look {
  readonly place: Place;
  readonly folder: Uint8Array;
  readonly names: readonly Uint8Array[];
}

interface Kept {
  readonly looks: readonly Look[];
  /** One of each name, in order. */
  readonly stamps: Buffer;
  readonly value: unknown;
}

const caches = new WeakMap<object, Map<string, Kept>>();

/**
 * What `make` gives, or gave when all that it is made of looked exactly as now. `places` says what that
 * is, for good for one key: every file whose text, mode or owner, and every name whose absence makes a
 * difference. What `make` throws is not kept, and the value is not changed by anybody.
 *
 * Folders are reached anew and without a symlink at every look, so a name that is absent then is what
 * an opening would find, and what has the stamp of a file is that file as it was. `make` takes absence,
 * mode and owner from the sight alone and reads in its open folders: whatever comes and goes in the
 * meantime, the value is that of the stamps it is kept by, or a stamp has changed after it.
 */
export function whileSame<T>(
  root: Root,
  key: string,
  places: () => readonly Place[],
  make: (sight: Sight) => T,
): T {
  let values = caches.get(root);
  if (values === undefined) {
    values = new Map();
    caches.set(root, values);
  }
  const kept = values.get(key);
  if (kept !== undefined && isSame(root, kept)) return kept.value as T;
  values.delete(key);
  const made = observed(root, kept?.looks ?? places().map(looked), make);
  if (made.stamps === undefined) return made.value;
  if (values.size >= valuesMax) values.delete(values.keys().next().value as string);
  values.set(key, made as Kept);
  return made.value;
}

function looked(place: Place): Look {
  return { place, folder: lookPath(place.folder), names: place.names.map(lookPath) };
}

/** Overwritten by every look. */
const now = Buffer.alloc(stampBytes);

function isSame(root: Root, { looks, stamps }: Kept): boolean {
  let at = 0;
  for (const { folder, names } of looks) {
    const fd = openToLook(root.folder, folder);
    if (fd === undefined) return false;
    try {
      for (const name of names) {
        if (stampIn(fd, name, now, 0) === "other") return false;
        if (stamps.compare(now, 0, stampBytes, at, at + stampBytes) !== 0) return false;
        at += stampBytes;
      }
    } finally {
      closeSync(fd);
    }
  }
  return true;
}

interface Made<T> {
  readonly looks: readonly Look[];
  /** Undefined when the value cannot be kept. */
  readonly stamps: Buffer | undefined;
  readonly value: T;
}

function observed<T>(root: Root, looks: readonly Look[], make: (sight: Sight) => T): Made<T> {
  const folders = looks.map(({ folder }) => openToLook(root.folder, folder));
  try {
    const stamps = stampsOf(looks, folders);
    const value = make({ of: (folder, name) => found(looks, folders, stamps, folder, name) });
    const after = stampsOf(looks, folders);
    const same = after.whole && stamps.whole && after.bytes.equals(stamps.bytes);
    return { looks, value, stamps: same && allSettled(stamps) ? stamps.bytes : undefined };
  } finally {
    for (const fd of folders) if (fd !== undefined) closeSync(fd);
  }
}

interface Stamps {
  readonly bytes: Buffer;
  readonly seen: readonly ReturnType<typeof stampIn>[];
  /** Whether each name was either told or absent. */
  readonly whole: boolean;
}

function stampsOf(looks: readonly Look[], folders: readonly (number | undefined)[]): Stamps {
  const count = looks.reduce((sum, { names }) => sum + names.length, 0);
  const bytes = Buffer.alloc(count * stampBytes);
  const seen: Stamps["seen"][number][] = [];
  for (const [index, { names }] of looks.entries()) {
    const fd = folders[index];
    for (const name of names) {
      const at = seen.length * stampBytes;
      seen.push(fd === undefined ? "other" : stampIn(fd, name, bytes, at));
    }
  }
  return { bytes, seen, whole: !seen.includes("other") };
}

function found(
  looks: readonly Look[],
  folders: readonly (number | undefined)[],
  { bytes, seen }: Stamps,
  folder: string,
  name: string,
): Found | undefined {
  let first = 0;
  for (const [index, { place }] of looks.entries()) {
    const among = place.folder === folder ? place.names.indexOf(name) : -1;
    if (among >= 0) {
      const fd = folders[index];
      const what = seen[first + among];
      if (fd === undefined || what === "other") return undefined;
      const facts = stampFacts(bytes, (first + among) * stampBytes);
      return { folder: fd, facts: what === "absent" ? undefined : facts };
    }
    first += place.names.length;
  }
  throw new Error(`"${name}" in "${folder}" is not among the places of this value`);
}

/** Folders have no times: they are told by what they are now. */
function allSettled({ bytes, seen }: Stamps): boolean {
  return seen.every((what, index) => what !== "file" || settled(bytes, index * stampBytes));
}
