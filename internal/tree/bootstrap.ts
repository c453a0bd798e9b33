// Makes a tree, or brings one up to date. It first decides about every entry by looking, then
// changes what needs it, in an order in which each cut leaves a tree that the next run completes. It
// never touches a session, a control that a person edited, or anything it did not plan.

import { chmodSync, closeSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { basename, dirname, join, posix, resolve } from "node:path";
import { CodedError, coded, fail, quoted } from "../abi/mod.ts";
import { type FileOwner, openPath, syncFileSystem, tryLock } from "../os/mod.ts";
import {
  dropBeneath,
  isTemporaryName,
  publishBeneath,
  type Staged,
  sweepTemporary,
  syncBeneath,
} from "./beneath.ts";
import { type Action, decide, isText, makeEntry, stageEntry } from "./bootstrap-entry.ts";
import { type Entry, planTree, rootEntries } from "./bootstrap-plan.ts";
import {
  type BootstrapRecord,
  checkOwner,
  digestOf,
  makeRecord,
  readRecord,
  recordPath,
  treeVersion,
  writeRecord,
} from "./bootstrap-record.ts";
import { runnerLine } from "./object-file.ts";
import { canonical } from "./places.ts";
import { findProgram, hostPrograms, programNames } from "./programs.ts";

export interface BootstrapOptions {
  readonly source: string;
  /** Who the agents belong to. A process that is not root can only name itself. */
  readonly owner: FileOwner;
  /** Supplementary groups of the agents. */
  readonly groups: readonly number[];
  /** Folder of the five programs. */
  readonly binaries: string;
  /** Report what would be done and write nothing. */
  readonly check?: boolean;
}

export interface BootstrapReport {
  /** Canonical path of the tree. */
  readonly source: string;
  readonly treeVersion: number;
  /** True when something was made or updated, or would be. */
  readonly changed: boolean;
  /** Every entry, in order; `keep` is a control that differs because a person edited it. */
  readonly entries: readonly { readonly path: string; readonly action: Action }[];
}

/**
 * Throws EINVAL for a path that cannot start an object or for another owner than the tree has,
 * EEXIST for foreign entries in the root, ENOENT for a missing program, busy while another
 * bootstrap is at work; and what the disk says (EROFS, ENOSPC, EACCES, EIO), naming the file.
 */
export function bootstrap(options: BootstrapOptions): BootstrapReport {
  const source = futureCanonical(options.source);
  const check = options.check ?? false;
  runnerLine(source);
  checkProcess(options.owner);
  for (const name of programNames) findProgram(options.binaries, name);
  const root = openRoot(source, check);
  if (root === undefined) {
    const entries = plan(options, source).map(({ path }) => ({ path, action: "create" as const }));
    return { source, treeVersion, changed: true, entries };
  }
  try {
    if (!tryLock(root)) fail("busy", `another bootstrap is at work in "${source}"`);
    return update(root, source, options, check);
  } finally {
    closeSync(root);
  }
}

/** The owner that a tree was bootstrapped with; undefined when it was not. */
export function treeOwner(source: string): FileOwner | undefined {
  let root: number;
  try {
    root = openPath(source, "folder");
  } catch (error) {
    if (coded(error).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return readRecord(root)?.owner;
  } finally {
    closeSync(root);
  }
}

function plan(options: BootstrapOptions, source: string): Entry[] {
  const { owner, groups } = options;
  return planTree({ source, owner, groups, programs: hostPrograms() });
}

function update(
  root: number,
  source: string,
  options: BootstrapOptions,
  check: boolean,
): BootstrapReport {
  checkRoot(root, source);
  const record = readRecord(root);
  checkOwner(record, options.owner);
  const decided = plan(options, source).map((entry) => ({
    entry,
    action: named(source, entry.path, "look at", () =>
      decide(root, entry, record, options.binaries),
    ),
  }));
  const entries = decided.map(({ entry, action }) => ({ path: entry.path, action }));
  const work = decided.filter(({ action }) => action === "create" || action === "update");
  const next = nextRecord(options.owner, decided, record);
  const changed = work.length > 0 || JSON.stringify(next) !== JSON.stringify(record);
  const report = { source, treeVersion, changed, entries };
  if (check || !changed) return report;

  const cut = record === undefined || record.pending !== undefined;
  sweep(root, source, decided, cut);
  const start = () =>
    named(source, recordPath, "write", () => writeRecord(root, pendingRecord(next, record)));
  change(root, source, options, work, start);
  named(source, recordPath, "write", () => writeRecord(root, next));
  return report;
}

/**
 * Folders, programs and temporary files first, then one wait for the disk, then every file gets its
 * name, so that no cut, of power either, leaves a file with a part of its text. `start` is called
 * before the first control changes, as soon as there is a `bin` for the record to be in.
 */
function change(
  root: number,
  source: string,
  options: BootstrapOptions,
  work: readonly Decided[],
  start: () => void,
): void {
  const keeper = { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
  const owners = { keeper, owner: options.owner };
  const staged: Staged[] = [];
  const makesBin = work.some(({ entry }) => entry.path === "bin");
  if (!makesBin) start();
  try {
    for (const { entry } of work) {
      named(source, entry.path, "write", () => {
        if (isText(entry)) staged.push(stageEntry(root, entry, owners));
        else makeEntry(root, entry, owners, options.binaries);
      });
      if (entry.path === "bin") start();
    }
    named(source, ".", "sync", () => syncFileSystem(root));
    for (const file of staged) {
      named(source, file.relative, "write", () => publishBeneath(root, file));
    }
  } catch (error) {
    for (const file of staged) dropBeneath(root, file);
    throw error;
  }
  // The record will say that all is there, so all has its name on the disk before it.
  const folders = work.map(({ entry }) => posix.dirname(entry.path));
  named(source, ".", "sync", () => syncBeneath(root, folders));
}

interface Decided {
  readonly entry: Entry;
  readonly action: Action;
}

function nextRecord(
  owner: FileOwner,
  decided: readonly Decided[],
  record: BootstrapRecord | undefined,
): BootstrapRecord {
  const managed: Record<string, string> = {};
  for (const { entry, action } of decided) {
    if (entry.kind !== "managed") continue;
    const kept = record?.managed[entry.path];
    if (action !== "keep") managed[entry.path] = digestOf(entry.text);
    else if (kept !== undefined) managed[entry.path] = kept;
  }
  return makeRecord(owner, managed);
}

/** Until the run ends, a control is ours with its old digest or with the one it is about to get. */
function pendingRecord(
  next: BootstrapRecord,
  record: BootstrapRecord | undefined,
): BootstrapRecord {
  return { ...next, managed: record?.managed ?? {}, pending: next.managed };
}

/** Opens the tree's folder, making it first. Undefined when only looking at one that is missing. */
function openRoot(source: string, check: boolean): number | undefined {
  try {
    return openPath(source, "folder");
  } catch (error) {
    const { code, message } = coded(error);
    if (code !== "ENOENT") fail(code, `cannot open tree "${source}": ${message}`, { cause: error });
  }
  if (check) return undefined;
  return named(source, ".", "make", () => {
    makeRoot(source);
    return openPath(source, "folder");
  });
}

/** As root folders above it too are open to all, whatever the umask: agents pass through them. */
function makeRoot(path: string, above = false): void {
  if (lstatSync(path, { throwIfNoEntry: false })) return;
  makeRoot(dirname(path), true);
  mkdirSync(path, { mode: 0o755 });
  if (!above || process.geteuid?.() === 0) chmodSync(path, 0o755);
}

function checkRoot(root: number, source: string): void {
  const known: readonly string[] = rootEntries;
  const foreign = readdirSync(`/proc/self/fd/${root}`)
    .filter((name) => !known.includes(name) && !isTemporaryName(name))
    .sort();
  if (foreign.length === 0) return;
  const shown = foreign.slice(0, 8).map(quoted).join(", ");
  const more = foreign.length > 8 ? ` and ${foreign.length - 8} more` : "";
  fail("EEXIST", `cannot bootstrap "${source}": its root holds ${shown}${more}`, {
    hint: `a tree's root holds only ${rootEntries.join(" ")}; choose another folder or move them`,
  });
}

function checkProcess(owner: FileOwner): void {
  const uid = process.geteuid?.() ?? 0;
  if (uid === 0 || uid === owner.uid) return;
  fail("EACCES", `uid ${uid} cannot make a tree for uid ${owner.uid}`, {
    hint: "run it as root, or as the owner",
  });
}

/**
 * Takes away what cut runs left. In the root and in `bin` nobody but bootstrap writes, and after a
 * run that was cut the tree is not in use yet; elsewhere a young one may belong to a writer at work.
 */
function sweep(root: number, source: string, decided: readonly Decided[], cut: boolean): void {
  named(source, ".", "clean", () => sweepTemporary(root, ".", true));
  for (const { entry, action } of decided) {
    if (entry.kind !== "folder" || action !== "same") continue;
    const mine = cut || entry.path === "bin";
    named(source, entry.path, "clean", () => sweepTemporary(root, entry.path, mine));
  }
}

/** The real path that `source` has or will have. */
function futureCanonical(source: string): string {
  if (source === "") fail("EINVAL", "the source tree's path is empty");
  const path = resolve(source);
  const real = canonical(path);
  if (real !== path || dirname(path) === path) return real;
  return join(futureCanonical(dirname(path)), basename(path));
}

function named<T>(source: string, path: string, action: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { code, message } = coded(error);
    const what = path === "." ? `tree "${source}"` : `${quoted(path)} in tree "${source}"`;
    return fail(code, `cannot ${action} ${what}: ${message}`, { cause: error });
  }
}
