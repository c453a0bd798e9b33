// Making things below a tree's folder with no symlink followed on the way. Folders, files and links
// appear whole, under a temporary name first, so that a cut run leaves nothing half made but a
// temporary name, which `sweepTemporary` takes away. Parts of a tree belong to another uid than the
// one that writes here, so every step goes through descriptors.

import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { posix } from "node:path";
import { type FileOwner, openBeneath, temporaryName, throughFolder, writeAll } from "../os/mod.ts";

/** Runs `work` with the folder that holds `relative`, and its last component. */
export function inFolder<T>(
  root: number,
  relative: string,
  work: (folder: number, name: string) => T,
): T {
  const folder = openBeneath(root, posix.dirname(relative), "folder");
  try {
    return work(folder, posix.basename(relative));
  } finally {
    closeSync(folder);
  }
}

/** What `relative` itself is; undefined when it or a folder above it is missing. */
export function factsBeneath(root: number, relative: string): Stats | undefined {
  try {
    return inFolder(root, relative, (folder, name) =>
      lstatSync(throughFolder(folder, name), { throwIfNoEntry: false }),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

export function linkTargetBeneath(root: number, relative: string): string {
  return inFolder(root, relative, (folder, name) => readlinkSync(throughFolder(folder, name)));
}

export function isTemporaryName(name: string): boolean {
  return /^\..+\.[0-9a-f]{12}\.tmp$/.test(name);
}

/**
 * Makes a folder that has its mode and owner from the first moment it can be seen. Here and in what
 * follows the folder above is not synced: `syncBeneath` does that, once for all that is in it.
 */
export function makeFolderBeneath(
  root: number,
  relative: string,
  mode: number,
  owner: FileOwner | undefined,
): void {
  inFolder(root, relative, (folder, name) => {
    const temporary = temporaryName(name);
    mkdirSync(throughFolder(folder, temporary), { mode: 0o700 });
    try {
      const made = openBeneath(folder, temporary, "folder");
      try {
        if (owner) fchownSync(made, owner.uid, owner.gid);
        fchmodSync(made, mode);
      } finally {
        closeSync(made);
      }
      renameSync(throughFolder(folder, temporary), throughFolder(folder, name));
    } catch (error) {
      rmdirSync(throughFolder(folder, temporary));
      throw error;
    }
  });
}

/** Replaces a file, durably but for the folder above it. */
export function writeBeneath(
  root: number,
  relative: string,
  content: string,
  mode: number,
  owner: FileOwner | undefined,
): void {
  const staged = stageBeneath(root, relative, content, mode, owner);
  try {
    const fd = openBeneath(root, staged.temporary, "read");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    publishBeneath(root, staged);
  } catch (error) {
    dropBeneath(root, staged);
    throw error;
  }
}

/** A file that is written under a temporary name and waits to get its own. */
export interface Staged {
  readonly temporary: string;
  readonly relative: string;
}

/** The first half of `writeBeneath`, for many files that are synced together before the second. */
export function stageBeneath(
  root: number,
  relative: string,
  content: string,
  mode: number,
  owner: FileOwner | undefined,
): Staged {
  const temporary = temporaryName(posix.basename(relative));
  const staged = { temporary: posix.join(posix.dirname(relative), temporary), relative };
  const fd = openBeneath(root, staged.temporary, "create", 0o600);
  try {
    writeAll(fd, new TextEncoder().encode(content));
    if (owner) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, mode);
  } catch (error) {
    dropBeneath(root, staged);
    throw error;
  } finally {
    closeSync(fd);
  }
  return staged;
}

export function publishBeneath(root: number, { temporary, relative }: Staged): void {
  inFolder(root, relative, (folder, name) =>
    renameSync(throughFolder(folder, posix.basename(temporary)), throughFolder(folder, name)),
  );
}

/** Takes a staged file away; one that was published is gone under that name already. */
export function dropBeneath(root: number, { temporary }: Staged): void {
  inFolder(root, temporary, (folder, name) => rmSync(throughFolder(folder, name), { force: true }));
}

export function makeLinkBeneath(root: number, relative: string, target: string): void {
  inFolder(root, relative, (folder, name) => {
    const temporary = temporaryName(name);
    symlinkSync(target, throughFolder(folder, temporary));
    renameSync(throughFolder(folder, temporary), throughFolder(folder, name));
  });
}

/** Makes what was done in these folders outlast a crash of the machine; each is synced once. */
export function syncBeneath(root: number, folders: Iterable<string>): void {
  for (const relative of new Set(folders)) {
    const folder = openBeneath(root, relative, "folder");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }
}

/**
 * Age after which a temporary name is taken for left behind, in milliseconds. Writers hold one for
 * as long as one fsync takes.
 */
const temporaryAgeMs = 10 * 60 * 1000;

/** Removes what cut writers left in one folder; `mine` when no other writer can be at work there. */
export function sweepTemporary(root: number, relative: string, mine: boolean): void {
  const folder = openBeneath(root, relative, "folder");
  try {
    for (const name of readdirSync(`/proc/self/fd/${folder}`)) {
      if (!isTemporaryName(name)) continue;
      const path = throughFolder(folder, name);
      const facts = lstatSync(path, { throwIfNoEntry: false });
      if (!facts || (!mine && Date.now() - facts.mtimeMs < temporaryAgeMs)) continue;
      // A folder that is not empty was never ours: ours are renamed before anything is put in.
      if (facts.isDirectory()) rmdirSync(path);
      else unlinkSync(path);
    }
  } finally {
    closeSync(folder);
  }
}
