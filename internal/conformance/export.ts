// Writes the files of `abi/` into a folder. A new folder appears whole in one step; into one that is
// there everything is staged first, so that a disk that is full is met before anything is replaced.

import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { coded, fail } from "../abi/mod.ts";
import { abiFiles } from "./files.ts";

export interface Exported {
  readonly folder: string;
  readonly files: number;
}

/**
 * A folder that holds anything is ENOTEMPTY unless `force` is set, which writes over the files of
 * the same names and leaves the others. EROFS, ENOSPC and EACCES leave nothing behind.
 */
export function exportAbi(path: string, force: boolean): Exported {
  if (path === "") fail("EINVAL", "the folder to export to is empty text");
  const folder = resolve(path);
  const held = holds(path, folder);
  if (held !== undefined && held.length > 0 && !force) {
    fail("ENOTEMPTY", `${JSON.stringify(path)} is not empty`, {
      hint: "name a new folder, or write over the files in it with --force",
    });
  }
  try {
    if (held === undefined) makeWhole(folder);
    else writeInto(folder);
  } catch (error) {
    const { code, message, hint } = coded(error);
    fail(code, `cannot export to ${JSON.stringify(path)}: ${reason(error, message)}`, {
      cause: error,
      ...(hint === undefined ? {} : { hint }),
    });
  }
  return { folder, files: abiFiles().size };
}

/** Names in the folder; undefined when there is none. */
function holds(path: string, folder: string): string[] | undefined {
  try {
    const facts = statSync(folder, { throwIfNoEntry: false });
    if (facts === undefined) {
      const dangling = lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
      return dangling
        ? fail("ENOENT", `${JSON.stringify(path)} is a symlink to nothing`)
        : undefined;
    }
    if (facts.isDirectory()) return readdirSync(folder);
    return fail("EINVAL", `cannot export to ${JSON.stringify(path)}: it is not a folder`);
  } catch (error) {
    const { code, message } = coded(error);
    return fail(code, `cannot look at ${JSON.stringify(path)}: ${reason(error, message)}`);
  }
}

/** Made beside its place and moved there. */
function makeWhole(folder: string): void {
  const parent = dirname(folder);
  withStage(parent, (stage) => {
    const whole = join(stage, "abi");
    writeAll(whole);
    renameSync(whole, folder);
  });
}

function writeInto(folder: string): void {
  withStage(folder, (stage) => {
    writeAll(join(stage, "abi"));
    for (const file of abiFiles().keys()) refuseFolder(folder, file);
    for (const file of abiFiles().keys()) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      renameSync(join(stage, "abi", file), join(folder, file));
    }
  });
}

/** A name that is taken by a folder, or below a file, is met before the first file is replaced. */
function refuseFolder(folder: string, file: string): void {
  const target = join(folder, file);
  if (lstatSync(target, { throwIfNoEntry: false })?.isDirectory()) {
    fail("EEXIST", `"${file}" is a folder there`);
  }
  for (let at = dirname(file); at !== "."; at = dirname(at)) {
    const facts = lstatSync(join(folder, at), { throwIfNoEntry: false });
    if (facts !== undefined && !facts.isDirectory()) fail("EEXIST", `"${at}" is no folder there`);
  }
}

function withStage(parent: string, work: (stage: string) => void): void {
  const stage = mkdtempSync(join(parent, ".abi-export-"));
  try {
    work(stage);
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function writeAll(folder: string): void {
  const made = new Set<string>();
  for (const [file, text] of abiFiles()) {
    const path = join(folder, file);
    const parent = dirname(path);
    if (!made.has(parent)) mkdirSync(parent, { recursive: true });
    made.add(parent);
    writeFileSync(path, text, { flag: "wx" });
  }
}

/** node's own text repeats the code, the call and the path of a file that nobody asked for. */
function reason(error: unknown, message: string): string {
  const said: Readonly<Record<string, string>> = {
    ENOENT: "the folder above it does not exist",
    ENOTDIR: "a part of its path is not a folder",
    EACCES: "permission denied",
    EPERM: "permission denied",
    EROFS: "the file system is read-only",
    ENOSPC: "no space is left",
    EDQUOT: "no space is left",
    ENOTEMPTY: "another program has made it meanwhile",
  };
  const name = (error as { code?: string; name?: string } | null)?.code ?? "";
  const own = error instanceof Error && error.name === "CodedError";
  return own ? message : (said[name] ?? message);
}
