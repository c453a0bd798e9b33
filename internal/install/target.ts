// Where an object is installed: one folder of a source tree, opened without following a symlink and
// held by a lock while something is made or removed in it. Never a view: that is another's picture
// of a tree, and what is done there would not last or not be what was meant.

import {
  closeSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  readFileSync,
} from "node:fs";
import { CodedError, coded, fail, objectName, quoted } from "../abi/mod.ts";
import { openBeneath, throughFolder, tryLock } from "../os/mod.ts";
import { type Tree, treeOwner, viewToSource } from "../tree/mod.ts";
import type { InstallTier, ObjectClass } from "./receipt.ts";

/** Milliseconds to wait for another command that installs or removes in the folder. Past it `busy`. */
const lockMs = 10_000;

/** Pause between two looks at the lock, in milliseconds. */
const lockPauseMs = 10;

export interface ObjectPlace {
  /** Path in the tree, e.g. "home/1000/tool/x". */
  readonly object: string;
  /** What holds it, e.g. "home/1000/tool". */
  readonly folder: string;
  readonly class: ObjectClass;
  readonly name: string;
  readonly tier: InstallTier;
}

/** The place of a path that a person gives: `tool/x`, `/ctx/tool/x`, `home/1000/tool/x`. EINVAL. */
export function objectPlace(path: string): ObjectPlace {
  const object = viewToSource(path) ?? path;
  const [, home, kind, name] = /^(home\/[0-9]{1,10}\/)?(tool|agent)\/([^/]+)$/.exec(object) ?? [];
  if (kind === undefined || name === undefined || (home !== undefined && kind === "agent")) {
    return fail("EINVAL", `${quoted(path)} is not the path of an object that can be installed`, {
      hint: "name it as tool/NAME, agent/NAME or home/UID/tool/NAME",
    });
  }
  objectName(kind, name);
  const tier = home === undefined ? "system" : "user";
  return { object, folder: `${home ?? ""}${kind}`, class: kind as ObjectClass, name, tier };
}

/** The place of an object of that class and tier; `uid` is whose home the user tier is. */
export function placeFor(
  kind: ObjectClass,
  name: string,
  tier: InstallTier,
  uid: number,
): ObjectPlace {
  if (tier === "system") return objectPlace(`${kind}/${name}`);
  if (kind === "tool") return objectPlace(`home/${uid}/tool/${name}`);
  return fail("EINVAL", `agent ${quoted(name)} cannot be installed in the user tier`, {
    hint: "agents are of the system tier, say --tier system",
  });
}

/** Throws EINVAL for a view, ENOENT for a tree that bootstrap did not make. */
export function checkSource(tree: Tree): void {
  const { source } = tree;
  const hint = "name the source tree, for example /var/lib/cortexfs/storage/current";
  if (source === "/ctx" || source.startsWith("/ctx/") || isFuse(tree.folder)) {
    fail("EINVAL", `"${source}" is a view and no source tree`, { hint });
  }
  if (treeOwner(source) === undefined) {
    fail("ENOENT", `"${source}" holds no record of a bootstrap, it is no source tree`, { hint });
  }
}

function isFuse(folder: number): boolean {
  let text: string;
  try {
    const id = /^mnt_id:\s*([0-9]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${folder}`, "utf8"));
    text = readFileSync("/proc/self/mountinfo", "utf8");
    return isFuseMount(text, id?.[1] ?? "");
  } catch {
    return false;
  }
}

/** Whether the mount of this id is a FUSE file system, by the lines of proc_pid_mountinfo(5). */
export function isFuseMount(mountinfo: string, id: string): boolean {
  const line = mountinfo.split("\n").find((one) => one.startsWith(`${id} `));
  const type = line?.split(" - ", 2)[1]?.split(" ", 1)[0] ?? "";
  return type === "fuse" || type === "fuseblk" || type.startsWith("fuse.");
}

/** Makes the tool folder of a home that has none. ENOENT without the home, which is the tree's to give. */
export function ensureUserFolder(tree: Tree, uid: number): void {
  const home = openHome(tree, uid);
  try {
    if (lstatSync(throughFolder(home, "tool"), { throwIfNoEntry: false }) !== undefined) return;
    mkdirSync(throughFolder(home, "tool"), { mode: 0o755 });
    const made = openBeneath(home, "tool", "folder");
    try {
      const owner = ownerOf(home);
      if (owner) fchownSync(made, owner.uid, owner.gid);
      fsyncSync(home);
    } finally {
      closeSync(made);
    }
  } catch (error) {
    throw folderRefusal(`home/${uid}`, error);
  } finally {
    closeSync(home);
  }
}

function openHome(tree: Tree, uid: number): number {
  try {
    return openBeneath(tree.folder, `home/${uid}`, "folder");
  } catch (error) {
    if (coded(error).code !== "ENOENT") throw folderRefusal(`home/${uid}`, error);
    return fail("ENOENT", `uid ${uid} has no home in this tree`, {
      hint: `whoever keeps the tree makes one: install -d -o ${uid} "${tree.source}/home/${uid}"`,
    });
  }
}

/** Runs `work` in the folder while no other command installs or removes something there. */
export function withFolder<T>(tree: Tree, relative: string, work: (folder: number) => T): T {
  let folder: number;
  try {
    folder = openBeneath(tree.folder, relative, "folder");
  } catch (error) {
    throw folderRefusal(relative, error);
  }
  try {
    lock(folder, relative);
    return work(folder);
  } catch (error) {
    throw folderRefusal(relative, error);
  } finally {
    closeSync(folder);
  }
}

function lock(folder: number, relative: string): void {
  const deadline = performance.now() + lockMs;
  while (!tryLock(folder)) {
    if (performance.now() > deadline) {
      fail("busy", `another command makes or removes an object of ${quoted(relative)}`, {
        hint: "try again when it has ended",
      });
    }
    Bun.sleepSync(lockPauseMs);
  }
}

function folderRefusal(relative: string, error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const { code, message } = coded(error);
  const thrown = (error as NodeJS.ErrnoException).code;
  const isLink = thrown === "ELOOP";
  const reason = isLink ? "a symlink is on its way, and none is followed here" : bare(message);
  const hint = isLink ? undefined : rightsHint(code, relative);
  const detail = hint === undefined ? {} : { hint };
  return new CodedError(code, `cannot work in ${quoted(relative)}: ${reason}`, {
    cause: error,
    ...detail,
  });
}

/** Without the call and the paths that node says after it, which are descriptors here. */
export function bare(message: string): string {
  return message.replace(/, [a-z]+(?: '.*')?$/s, "");
}

/** What somebody can do who may not write there. */
export function rightsHint(code: string, folder: string): string | undefined {
  if (code !== "EACCES") return undefined;
  const own = folder === "tool" ? ", or say --tier user for a tool of your own" : "";
  return `run it as the owner of the folder${own}`;
}

/** New objects belong to whom their folder belongs. Undefined when they do so anyway. */
export function ownerOf(folder: number) {
  const { uid, gid } = fstatSync(folder);
  const mine = process.geteuid?.() === uid && process.getegid?.() === gid;
  return mine ? undefined : { uid, gid };
}
