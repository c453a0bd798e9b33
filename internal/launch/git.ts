// Keeps `.git` of a workspace, and of the folders right below it, out of an agent's reach: a hook or
// a setting in it would run as the person. What exists is bound read-only over itself; what appears during a call is reported. A path
// that the workspace itself names (`gitdir:`) is followed only when the repository there names this
// workspace in turn, since an agent may have written the file.

import { closeSync, lstatSync, readdirSync, realpathSync, type Stats } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { openPath, readBeneath } from "../os/mod.ts";
import type { Bind } from "../sandbox/mod.ts";
import { isBelow } from "./location.ts";

/** A `.git` file, a `commondir` and the like are one line; a submodule's config is small too. */
const pointerBytesMax = 64 * 1024;

/** Folders of one shared root that are looked into for a new `.git`. Past it the rest is not. */
const watchedFoldersMax = 256;

/** Whose eyes the workspace is looked at with; left out, they are this process's own. */
export interface Who {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

/** Read-only binds for the `.git` of `workspace` (canonical host path), seen at `view`. */
export function gitBinds(workspace: string, view: string, agent?: Who): Bind[] {
  const host = join(workspace, ".git");
  const repository = entryOf(host)?.isFile() ? repositoryOf(workspace, host) : [];
  return [
    ...ownBinds(workspace, view, ""),
    ...repository.map((path) => placed(path, workspace, view)),
    // A submodule's `.git` is read by a plain `git status` above it, so it counts as much.
    ...foldersOf(workspace, agent).flatMap((folder) => ownBinds(workspace, view, folder)),
  ];
}

/** The `.git` entry of one folder itself, or what it is a link to. */
function ownBinds(workspace: string, view: string, folder: string): Bind[] {
  const host = join(workspace, folder, ".git");
  const facts = entryOf(host);
  if (facts === undefined) return [];
  if (facts.isSymbolicLink()) return linkBinds(workspace, view, host);
  return [{ host, view: join(view, folder, ".git"), access: "ro" }];
}

/** A link that leads out of the workspace has no target in the view, so nothing can be written. */
function linkBinds(workspace: string, view: string, host: string): Bind[] {
  const target = canonical(host);
  if (target === undefined || target === workspace || !isBelow(target, workspace)) return [];
  return [placed(target, workspace, view)];
}

function placed(host: string, workspace: string, view: string): Bind {
  const inside = isBelow(host, workspace);
  return { host, view: inside ? join(view, relative(workspace, host)) : host, access: "ro" };
}

/** The git folder of a linked worktree and its common folder, or a submodule's; else nothing. */
function repositoryOf(workspace: string, file: string): string[] {
  const named = /^gitdir: (.+)\n?$/.exec(pointer(workspace, ".git") ?? "")?.[1];
  const folder = named === undefined ? undefined : canonical(resolve(workspace, named));
  if (folder === undefined || isBelow(workspace, folder)) return [];
  const back = pointer(folder, "gitdir")?.trimEnd();
  if (back === undefined) return submoduleNames(workspace, folder) ? [folder] : [];
  if (canonical(resolve(folder, back)) !== file) return [];
  const common = canonical(resolve(folder, pointer(folder, "commondir")?.trimEnd() ?? ""));
  if (common === undefined || dirname(folder) !== join(common, "worktrees")) return [];
  if (pointer(common, "HEAD") === undefined) return [];
  return isBelow(workspace, common) ? [] : [common];
}

function submoduleNames(workspace: string, folder: string): boolean {
  const worktree = /^\s*worktree\s*=\s*(\S.*?)\s*$/m.exec(pointer(folder, "config") ?? "")?.[1];
  return worktree !== undefined && canonical(resolve(folder, worktree)) === workspace;
}

/** A small file of a folder, no symlink followed; undefined when there is none to read. */
function pointer(folder: string, name: string): string | undefined {
  let fd: number;
  try {
    fd = openPath(folder, "folder");
  } catch {
    return undefined;
  }
  try {
    return new TextDecoder().decode(readBeneath(fd, name, pointerBytesMax));
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function canonical(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

export interface WatchedRoot {
  readonly host: string;
  readonly view: string;
  readonly agent?: Who | undefined;
}

/** What `.git` is at each root and in the folders right below it: view path to identity. */
export function gitEntries(roots: readonly WatchedRoot[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const { host, view, agent } of roots) {
    for (const folder of ["", ...foldersOf(host, agent)]) {
      const facts = entryOf(join(host, folder, ".git"));
      if (facts === undefined) continue;
      found.set(join(view, folder, ".git"), `${facts.dev}:${facts.ino}:${facts.mode}`);
    }
  }
  return found;
}

/** A folder that cannot be searched hides its `.git` from the person's git as well. */
function entryOf(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** View paths that are there now and were not, or are another file now. */
export function newGitEntries(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  return [...after].filter(([path, id]) => before.get(path) !== id).map(([path]) => path);
}

/**
 * Folders right below `host`. One that the agent cannot search is passed over: bubblewrap, which
 * runs as the agent, could not bind anything in it. When it is opened later, what is in it is new.
 */
function foldersOf(host: string, agent: Who | undefined): string[] {
  try {
    return readdirSync(host, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== ".git")
      .slice(0, watchedFoldersMax)
      .map((entry) => entry.name)
      .filter((name) => agent === undefined || searches(agent, entryOf(join(host, name))));
  } catch {
    return [];
  }
}

function searches({ uid, gid, groups }: Who, facts: Stats | undefined): boolean {
  if (facts === undefined) return false;
  if (uid === 0) return true;
  if (uid === facts.uid) return (facts.mode & 0o100) !== 0;
  const member = gid === facts.gid || groups.includes(facts.gid);
  return (facts.mode & (member ? 0o010 : 0o001)) !== 0;
}
