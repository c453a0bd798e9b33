// Opens and makes what lies below the source tree, always relative to its descriptor and without
// following a symlink: an agent's owner can write there, so no component is trusted. New folders
// are 0700, new files 0600, and both belong to the owner.

import { closeSync, fchmodSync, fchownSync, fsyncSync, mkdirSync, realpathSync } from "node:fs";
import { CodedError, coded } from "../abi/mod.ts";
import { type FileOwner, openBeneath, openPath, statBeneath, throughFolder } from "../os/mod.ts";

/** The source tree: its canonical path and an open descriptor of it. */
export interface Root {
  readonly path: string;
  readonly fd: number;
}

export function openRoot(source: string): Root {
  const path = realpathSync(source);
  return { path, fd: openPath(path, "folder") };
}

export function closeRoot(root: Root): void {
  closeSync(root.fd);
}

/** False when the path or a part of it is missing; other failures are thrown. */
export function existsBeneath(root: Root, relative: string): boolean {
  try {
    statBeneath(root.fd, relative);
    return true;
  } catch (error) {
    if (coded(error).code === "ENOENT") return false;
    throw pathError(error, relative);
  }
}

/** Runs `use` with an open descriptor of the folder. */
export function withFolder<T>(root: Root, relative: string, use: (fd: number) => T): T {
  const fd = openBeneath(root.fd, relative, "folder");
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/** Makes every missing part of the path; each new name is durable in its parent. */
export function makeFolders(root: Root, relative: string, owner: FileOwner): void {
  if (existsBeneath(root, relative)) return;
  let parent = openPath(root.path, "folder");
  try {
    for (const part of relative.split("/")) {
      const child = openOrMake(parent, part, owner, relative);
      closeSync(parent);
      parent = child;
    }
  } finally {
    closeSync(parent);
  }
}

function openOrMake(parent: number, name: string, owner: FileOwner, relative: string): number {
  try {
    return openBeneath(parent, name, "folder");
  } catch (error) {
    if (coded(error).code !== "ENOENT") throw pathError(error, relative);
  }
  try {
    mkdirSync(throughFolder(parent, name), 0o700);
  } catch (error) {
    // Somebody else made it in between; it is then opened like any other.
    if (coded(error).code !== "EEXIST") throw pathError(error, relative);
    return openBeneath(parent, name, "folder");
  }
  const child = openBeneath(parent, name, "folder");
  fchmodSync(child, 0o700);
  giveTo(child, owner);
  fsyncSync(parent);
  return child;
}

/** Gives a file that we made to its owner; only root can, and only root needs to. */
export function giveTo(fd: number, owner: FileOwner): void {
  if (process.getuid?.() === 0) fchownSync(fd, owner.uid, owner.gid);
}

/** Names the tree's path in an error of the system, which names descriptors. */
export function pathError(error: unknown, relative: string): CodedError {
  const known = coded(error);
  const because = known.code === "EACCES" ? "a part of it is a symlink or not accessible" : "";
  // The system's own words name descriptors, which tell a person nothing.
  const said = known.message.replace(/, \w+ '\/proc\/self\/fd\/[^']*'/, "");
  const reason = because === "" ? said : `${because} (${said})`;
  return new CodedError(known.code, `cannot open "${relative}": ${reason}`, { cause: error });
}
