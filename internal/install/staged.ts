// The folder in which an object is put together, under a name that no object has, and the names that
// tell what a cut run left: `.NAME.<12 hex>.install` is a folder that was being filled or emptied,
// and `.executable` in a folder of controls is an executable on its way in or out.

import {
  closeSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { type FileOwner, openBeneath, throughFolder, writeAll } from "../os/mod.ts";

/** The executable while it waits in its folder of controls; no control has such a name. */
export const stagedExecutable = ".executable";

/** Of a folder of an object's controls on its way in or out. */
export function stagingName(name: string): string {
  return `.${name}.${crypto.getRandomValues(new Uint8Array(6)).toHex()}.install`;
}

/** The object's name in a name of `stagingName`; undefined for other names. */
export function stagedFor(name: string): string | undefined {
  return /^\.(.+)\.[0-9a-f]{12}\.install$/.exec(name)?.[1];
}

export interface StagedObject {
  readonly controls: ReadonlyMap<string, string | Uint8Array>;
  /** Fills the executable. */
  copy(fd: number): void;
  /** The receipt's text, once the executable is a file. */
  receipt(facts: FileIdentity): string;
}

export interface FileIdentity {
  readonly dev: string;
  readonly ino: string;
}

/** Fills the empty folder, durably: the executable, the controls, the receipt, its own mode last. */
export function fillStaged(
  folder: number,
  object: StagedObject,
  owner: FileOwner | undefined,
  receiptFile: string,
): void {
  const text = new TextEncoder();
  const write = (name: string, content: string | Uint8Array) =>
    makeFile(folder, name, 0o644, owner, (fd) => {
      writeAll(fd, typeof content === "string" ? text.encode(content) : content);
    });
  let identity: FileIdentity | undefined;
  makeFile(folder, stagedExecutable, 0o755, owner, (fd) => {
    object.copy(fd);
    identity = identityOf(fd);
  });
  for (const [name, content] of object.controls) write(name, content);
  makeFolder(folder, "hooks", owner, (hooks) => {
    for (const name of ["pre.d", "post.d"]) makeFolder(hooks, name, owner, () => undefined);
  });
  if (identity !== undefined) write(receiptFile, object.receipt(identity));
  settle(folder, 0o755, owner);
}

export function identityOf(fd: number): FileIdentity {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return { dev: String(dev), ino: String(ino) };
}

/** What a name in a folder is itself; undefined when it is not there. */
export function identityAt(folder: number, name: string): FileIdentity | undefined {
  const facts = lstatSync(throughFolder(folder, name), { bigint: true, throwIfNoEntry: false });
  return facts && { dev: String(facts.dev), ino: String(facts.ino) };
}

export function sameFile(a: FileIdentity | undefined, b: FileIdentity | undefined): boolean {
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/** Removes a file, link or whole folder; no symlink is followed, whoever owns the folders. */
export function removeTree(parent: number, name: string): void {
  const path = throughFolder(parent, name);
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return;
  if (!facts.isDirectory()) {
    unlinkSync(path);
    return;
  }
  const folder = openBeneath(parent, name, "folder");
  try {
    for (const inside of readdirSync(`/proc/self/fd/${folder}`)) removeTree(folder, inside);
  } finally {
    closeSync(folder);
  }
  rmdirSync(path);
}

/** Paths of all that is in a folder, those of folders with a slash at the end. Sorted. */
export function listTree(parent: number, name: string): string[] {
  const folder = openBeneath(parent, name, "folder");
  try {
    return readdirSync(`/proc/self/fd/${folder}`, { withFileTypes: true })
      .flatMap((entry) => {
        if (!entry.isDirectory()) return [entry.name];
        const inside = listTree(folder, entry.name).map((below) => `${entry.name}/${below}`);
        return [`${entry.name}/`, ...inside];
      })
      .sort();
  } finally {
    closeSync(folder);
  }
}

function makeFile(
  folder: number,
  name: string,
  mode: number,
  owner: FileOwner | undefined,
  content: (fd: number) => void,
): void {
  const fd = openBeneath(folder, name, "create", 0o600);
  try {
    content(fd);
    settle(fd, mode, owner);
  } finally {
    closeSync(fd);
  }
}

function makeFolder(
  parent: number,
  name: string,
  owner: FileOwner | undefined,
  fill: (folder: number) => void,
): void {
  mkdirSync(throughFolder(parent, name), { mode: 0o700 });
  const folder = openBeneath(parent, name, "folder");
  try {
    fill(folder);
    settle(folder, 0o755, owner);
  } finally {
    closeSync(folder);
  }
}

/** Owner, mode and content for good. */
function settle(fd: number, mode: number, owner: FileOwner | undefined): void {
  if (owner) fchownSync(fd, owner.uid, owner.gid);
  fchmodSync(fd, mode);
  fsyncSync(fd);
}
