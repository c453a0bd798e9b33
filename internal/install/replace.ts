// Taking the place of an installed object. Two names cannot change at once, so the controls go first
// and the executable after them; between the two the receipt speaks of a file that the executable is
// not, and whoever looks at it refuses. A run that was cut there is undone by the next one.

import { closeSync, fsyncSync, readdirSync } from "node:fs";
import { coded, controlBytesMax, fail, quoted } from "../abi/mod.ts";
import { openBeneath, readBeneath, renameExchange } from "../os/mod.ts";
import { isReplaced } from "./controls.ts";
import { type Managed, receiptBeneath } from "./managed.ts";
import { receiptName } from "./receipt.ts";
import {
  type FileIdentity,
  identityAt,
  listTree,
  removeTree,
  sameFile,
  stagedExecutable,
  stagedFor,
} from "./staged.ts";
import type { ObjectPlace } from "./target.ts";

export interface Kept {
  readonly texts: ReadonlyMap<string, Uint8Array>;
  /** Those that the manifest says otherwise; the log is none. */
  readonly differing: readonly string[];
}

/**
 * What the new object takes over from the old one. Throws ENOTEMPTY when the old one's folder holds
 * what nobody would find again.
 */
export function keptControls(
  folder: number,
  place: ObjectPlace,
  controls: ReadonlyMap<string, string>,
): Kept {
  const old = `${place.name}.d`;
  const hooks = ["hooks/", "hooks/pre.d/", "hooks/post.d/"];
  const known = [...controls.keys(), ...hooks, receiptName, stagedExecutable, "program", "mcp"];
  const texts = new Map<string, Uint8Array>();
  for (const name of listTree(folder, old)) {
    const isKept = controls.has(name) && !isReplaced(place.class, name);
    if (isKept) texts.set(name, readBeneath(folder, `${old}/${name}`, controlBytesMax));
    if (isKept || known.includes(name)) continue;
    fail("ENOTEMPTY", `"${place.folder}/${old}" holds ${quoted(name)}, which would be lost`, {
      hint: "move it away, and back when the object is replaced",
    });
  }
  const decoder = new TextDecoder();
  const differing = [...texts].filter(
    ([name, bytes]) => name !== "log" && decoder.decode(bytes) !== controls.get(name),
  );
  return { texts, differing: differing.map(([name]) => name) };
}

export interface Exchange {
  readonly folder: number;
  readonly place: ObjectPlace;
  readonly staging: string;
  /** Descriptor of the staged folder. */
  readonly staged: number;
  readonly old: Managed;
  readonly kept: Kept;
  readonly step: ((name: string) => void) | undefined;
}

/** Throws EACCES or `busy`, the old object in its place, when it is not what was judged before. */
export function exchange({ folder, place, staging, staged, old, kept, step }: Exchange): void {
  const { name, object } = place;
  const swapControls = () => renameExchange(folder, staging, folder, `${name}.d`);
  const swapExecutables = () => renameExchange(staged, stagedExecutable, folder, name);
  swapControls();
  try {
    fsyncSync(folder);
    step?.("executable");
    requireSame(identityAt(folder, staging), old.controls, `${object}.d`);
    requireKept(folder, staging, kept, object);
    swapExecutables();
    if (!sameFile(identityAt(staged, stagedExecutable), old.receipt.executable)) {
      swapExecutables();
      fail("EACCES", `the executable of ${quoted(object)} was changed while it was replaced`);
    }
  } catch (error) {
    swapControls();
    fsyncSync(folder);
    throw error;
  }
  fsyncSync(staged);
  fsyncSync(folder);
  step?.("clean");
  removeTree(staged, stagedExecutable);
  removeTree(folder, staging);
  fsyncSync(folder);
  step?.("done");
}

function requireSame(found: FileIdentity | undefined, wanted: FileIdentity, what: string): void {
  if (sameFile(found, wanted)) return;
  fail("EACCES", `${quoted(what)} was changed while it was replaced`);
}

/** A line that a person added meanwhile must not be lost. */
function requireKept(folder: number, staging: string, { texts }: Kept, object: string): void {
  for (const [name, bytes] of texts) {
    if (name === "log") continue;
    const now = readBeneath(folder, `${staging}/${name}`, controlBytesMax);
    if (Buffer.compare(now, bytes) === 0) continue;
    fail("busy", `"${object}.d/${name}" was changed while the object was replaced`, {
      hint: "try again",
    });
  }
}

/** Under the lock: gives an object its old controls back when a replacement was cut in the middle. */
export function undoCutReplace(folder: number, place: ObjectPlace): void {
  const staging = cutReplace(folder, place);
  if (staging === undefined) return;
  renameExchange(folder, staging, folder, `${place.name}.d`);
  fsyncSync(folder);
}

/** The name under which the old controls lie; undefined when no replacement was cut. */
export function cutReplace(folder: number, place: ObjectPlace): string | undefined {
  const { name } = place;
  const executable = identityAt(folder, name);
  const waiting = identityIn(folder, `${name}.d`);
  if (executable === undefined || waiting === undefined) return undefined;
  if (!sameFile(receiptOf(folder, place, `${name}.d`), waiting)) return undefined;
  return readdirSync(`/proc/self/fd/${folder}`).find(
    (one) => stagedFor(one) === name && sameFile(receiptOf(folder, place, one), executable),
  );
}

function identityIn(folder: number, controls: string): FileIdentity | undefined {
  try {
    const opened = openBeneath(folder, controls, "folder");
    try {
      return identityAt(opened, stagedExecutable);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    if (["ENOENT", "EACCES"].includes(coded(error).code)) return undefined;
    throw error;
  }
}

/** What the receipt in a folder of controls calls the executable; undefined without a sound one. */
function receiptOf(folder: number, place: ObjectPlace, controls: string): FileIdentity | undefined {
  try {
    return receiptBeneath(folder, place, controls).receipt.executable;
  } catch {
    return undefined;
  }
}
