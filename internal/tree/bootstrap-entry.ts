// One entry of the plan against one place of the disk: what has to be done about it, and doing it.

import { fail, quoted } from "../abi/mod.ts";
import { type FileOwner, readBeneath } from "../os/mod.ts";
import {
  factsBeneath,
  linkTargetBeneath,
  makeFolderBeneath,
  makeLinkBeneath,
  type Staged,
  stageBeneath,
} from "./beneath.ts";
import type { Entry, TextEntry } from "./bootstrap-plan.ts";
import { type BootstrapRecord, digestOf } from "./bootstrap-record.ts";
import { isProgram, placeProgram } from "./programs.ts";

export type Action = "create" | "update" | "keep" | "same";

/** Looks, and says what has to be done. EEXIST when something of another kind is in the way. */
export function decide(
  root: number,
  entry: Entry,
  record: BootstrapRecord | undefined,
  binaries: string,
): Action {
  const facts = factsBeneath(root, entry.path);
  if (facts === undefined) return "create";
  if (entry.kind === "alias") {
    if (!facts.isSymbolicLink()) return "keep";
    return linkTargetBeneath(root, entry.path) === entry.target ? "same" : "keep";
  }
  const right = entry.kind === "folder" ? facts.isDirectory() : facts.isFile();
  if (!right) {
    const wanted = entry.kind === "folder" ? "folder" : "regular file";
    fail("EEXIST", `${quoted(entry.path)} is not a ${wanted}`, { hint: "move it away" });
  }
  switch (entry.kind) {
    case "folder":
    case "runtime":
      return "same";
    case "program":
      return isProgram(root, entry.path, binaries, entry.name) ? "same" : "update";
    case "generated":
      return hasText(root, entry.path, entry.text, facts.size) ? "same" : "update";
    case "managed":
      if (hasText(root, entry.path, entry.text, facts.size)) return "same";
      return isOurs(root, entry.path, record, facts.size) ? "update" : "keep";
  }
}

/** Largest control that is compared; a larger one was not written by bootstrap. */
const comparedBytesMax = 256 * 1024;

function hasText(root: number, path: string, text: string, size: number): boolean {
  const wanted = new TextEncoder().encode(text);
  if (size !== wanted.length) return false;
  return Buffer.compare(readBeneath(root, path, comparedBytesMax), wanted) === 0;
}

function isOurs(
  root: number,
  path: string,
  record: BootstrapRecord | undefined,
  size: number,
): boolean {
  if (record === undefined || size > comparedBytesMax) return false;
  const digest = digestOf(readBeneath(root, path, comparedBytesMax));
  return record.managed[path] === digest || record.pending?.[path] === digest;
}

export interface Owners {
  readonly owner: FileOwner;
  readonly keeper: FileOwner;
}

/** Makes what is no text: a folder, an alias, a program. */
export function makeEntry(
  root: number,
  entry: Exclude<Entry, TextEntry>,
  owners: Owners,
  binaries: string,
): void {
  const { path } = entry;
  if (entry.kind === "folder") {
    makeFolderBeneath(root, path, entry.mode, given(owners[entry.owner]));
  } else if (entry.kind === "alias") {
    makeLinkBeneath(root, path, entry.target);
  } else {
    placeProgram(root, path, binaries);
  }
}

/** Writes a text under a temporary name. An updated file keeps the mode and owner that it has. */
export function stageEntry(root: number, entry: TextEntry, owners: Owners): Staged {
  const { path, text } = entry;
  const facts = factsBeneath(root, path);
  const planned = entry.kind === "managed" ? entry.mode : 0o644;
  const mode = facts ? facts.mode & 0o777 : planned;
  const owner = facts ? { uid: facts.uid, gid: facts.gid } : owners[entry.owner];
  return stageBeneath(root, path, text, mode, given(owner));
}

export function isText(entry: Entry): entry is TextEntry {
  return "text" in entry;
}

/** Undefined when new files get this owner anyway, so that nobody needs the right to chown. */
function given(owner: FileOwner): FileOwner | undefined {
  const mine = owner.uid === process.geteuid?.() && owner.gid === process.getegid?.();
  return mine ? undefined : owner;
}
