// What cut runs of install, replace and uninstall left: none of it is an object. It is listed, and one
// entry at a time is removed when it is named by path, device and inode, so that nothing which took
// its place meanwhile is.

import { closeSync, fsyncSync, lstatSync, readdirSync } from "node:fs";
import { posix } from "node:path";
import { coded, fail, isObjectName, quoted } from "../abi/mod.ts";
import { openBeneath, renameNoReplace, throughFolder } from "../os/mod.ts";
import type { Tree } from "../tree/mod.ts";
import { receiptName } from "./receipt.ts";
import { cutReplace, undoCutReplace } from "./replace.ts";
import {
  type FileIdentity,
  identityAt,
  removeTree,
  sameFile,
  stagedExecutable,
  stagedFor,
  stagingName,
} from "./staged.ts";
import { checkSource, type ObjectPlace, objectPlace, withFolder } from "./target.ts";

export interface Residue extends FileIdentity {
  /** In the tree. */
  readonly path: string;
  /** A person's words for what it is. */
  readonly what: string;
  /** When it was last changed: RFC 3339, UTC. */
  readonly changed_at: string;
}

/** All residue of the tree, sorted by path. What the caller may not look into is passed over. */
export function auditResidue(tree: Tree): readonly Residue[] {
  checkSource(tree);
  return installFolders(tree).flatMap((relative) => {
    let folder: number;
    try {
      folder = openBeneath(tree.folder, relative, "folder");
    } catch (error) {
      if (["ENOENT", "EACCES"].includes(coded(error).code)) return [];
      throw error;
    }
    try {
      return residueOf(folder, relative);
    } finally {
      closeSync(folder);
    }
  });
}

/**
 * Removes one entry that `auditResidue` lists. Throws ENOENT when it is not there, EACCES when it is
 * another file than the one that is named, EINVAL when it is no residue.
 */
export function cleanupResidue(tree: Tree, path: string, dev: string, ino: string): Residue {
  checkSource(tree);
  const { relative, inside, name } = residuePlace(path);
  const place = objectPlace(`${relative}/${name}`);
  return withFolder(tree, relative, (folder) => {
    undoCutReplace(folder, place);
    const found = residueOf(folder, relative).find((one) => one.path === path);
    if (found === undefined) return noResidue(folder, path, inside);
    if (!sameFile(found, { dev, ino })) {
      const now = `device ${found.dev}, inode ${found.ino}`;
      fail("EACCES", `${quoted(path)} is another file than the one that was named: ${now}`, {
        hint: "look again with ctx object residue audit",
      });
    }
    removeEntry(folder, inside, name, found);
    return found;
  });
}

/** Out of its name first, and looked at again: then it can be nothing else. */
function removeEntry(folder: number, inside: string, name: string, wanted: Residue): void {
  const staging = stagingName(name);
  const from = openBeneath(folder, posix.dirname(inside), "folder");
  try {
    const last = posix.basename(inside);
    renameNoReplace(from, last, folder, staging);
    if (!sameFile(identityAt(folder, staging), wanted)) {
      renameNoReplace(folder, staging, from, last);
      fail("EACCES", `${quoted(wanted.path)} was changed while it was removed`);
    }
    fsyncSync(from);
    fsyncSync(folder);
    removeTree(folder, staging);
    fsyncSync(folder);
  } finally {
    closeSync(from);
  }
}

function noResidue(folder: number, path: string, inside: string): never {
  if (identityAt(folder, inside) === undefined) fail("ENOENT", `${quoted(path)} does not exist`);
  return fail("EINVAL", `${quoted(path)} is no residue of an installation`, {
    hint: "see ctx object residue audit",
  });
}

/** The folder of objects, the path in it and the object's name, of a path that residue can have. */
function residuePlace(path: string): { relative: string; inside: string; name: string } {
  const match = /^((?:home\/[0-9]{1,10}\/)?tool|agent)\/([^/]+)(\/\.executable)?$/.exec(path);
  const [, relative = "", first = "", waiting = ""] = match ?? [];
  const own = first.endsWith(".d") ? first.slice(0, -2) : undefined;
  const name = waiting === "" ? (stagedFor(first) ?? own) : own;
  if (name === undefined || !isObjectName(name)) {
    return fail("EINVAL", `${quoted(path)} is not a path that residue can have`, {
      hint: "take path, device and inode as ctx object residue audit prints them",
    });
  }
  return { relative, inside: `${first}${waiting}`, name };
}

function installFolders(tree: Tree): string[] {
  const home = openBeneath(tree.folder, "home", "folder");
  try {
    const uids = readdirSync(`/proc/self/fd/${home}`).filter((name) => /^[0-9]{1,10}$/.test(name));
    return ["agent", ...uids.sort().map((uid) => `home/${uid}/tool`), "tool"];
  } finally {
    closeSync(home);
  }
}

type Undated = Omit<Residue, "changed_at">;

function residueOf(folder: number, relative: string): Residue[] {
  return undatedResidue(folder, relative).flatMap((found) => {
    const facts = lstatSync(throughFolder(folder, found.path.slice(relative.length + 1)), {
      throwIfNoEntry: false,
    });
    // A run that is at work may have taken it away meanwhile.
    return facts === undefined ? [] : [{ ...found, changed_at: facts.ctime.toISOString() }];
  });
}

function undatedResidue(folder: number, relative: string): Undated[] {
  const names = readdirSync(`/proc/self/fd/${folder}`).sort();
  return names.flatMap((entry) => {
    const identity = identityAt(folder, entry);
    if (identity === undefined) return [];
    const path = `${relative}/${entry}`;
    const staged = stagedFor(entry);
    if (staged !== undefined && isObjectName(staged)) {
      return [{ path, what: stagedWords(folder, relative, entry, staged), ...identity }];
    }
    const name = entry.endsWith(".d") ? entry.slice(0, -2) : "";
    if (!isObjectName(name)) return [];
    return residueOfControls(folder, { path, entry, name, identity }, names.includes(name));
  });
}

function stagedWords(folder: number, relative: string, entry: string, name: string): string {
  const place: ObjectPlace = objectPlace(`${relative}/${name}`);
  return cutReplace(folder, place) === entry
    ? "the old controls of an object whose replacement was cut; the next install, uninstall or cleanup of it puts them back"
    : "what was being put together or taken apart";
}

interface Controls {
  readonly path: string;
  readonly entry: string;
  readonly name: string;
  readonly identity: FileIdentity;
}

function residueOfControls(folder: number, controls: Controls, isObject: boolean): Undated[] {
  const { path, entry, identity } = controls;
  const waiting = identityBelow(folder, entry, stagedExecutable);
  if (isObject) {
    if (waiting === undefined) return [];
    const what = "an executable that was put in place of another, or waits to be";
    return [{ path: `${path}/${stagedExecutable}`, what, ...waiting }];
  }
  const isOurs = waiting !== undefined || identityBelow(folder, entry, receiptName) !== undefined;
  return isOurs ? [{ path, what: "controls without an executable", ...identity }] : [];
}

function identityBelow(folder: number, controls: string, name: string): FileIdentity | undefined {
  let opened: number;
  try {
    opened = openBeneath(folder, controls, "folder");
  } catch {
    // A symlink, a file, or a folder of somebody else's: nothing that was made here.
    return undefined;
  }
  try {
    return identityAt(opened, name);
  } finally {
    closeSync(opened);
  }
}
