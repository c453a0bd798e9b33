// A throw-away tree for the tests of `tree`: five stand-ins for the programs, and a place for it.

import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CodedError } from "../../internal/abi/mod.ts";
import {
  type BootstrapOptions,
  type BootstrapReport,
  bootstrap,
  openTree,
  type Tree,
} from "../../internal/tree/mod.ts";

export const uid = process.getuid?.() ?? 0;
export const gid = process.getgid?.() ?? 0;
export const isRoot = uid === 0;

export class TestTree {
  readonly base: string;
  readonly source: string;
  readonly binaries: string;
  /** As root somebody else, as it is on a host. */
  readonly owner = isRoot ? { uid: 61184, gid: 61184 } : { uid, gid };

  constructor(source?: string) {
    this.base = mkdtempSync("/tmp/cortexfs-tree-");
    this.source = source ?? join(this.base, "current");
    this.binaries = join(this.base, "programs");
    mkdirSync(this.binaries);
    for (const name of ["ctx", "tsh", "ctxterm", "ctxmcp", "ctxd"])
      this.program(name, `echo ${name} "$@"`);
  }

  program(name: string, text: string): void {
    writeFileSync(join(this.binaries, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  options(more: Partial<BootstrapOptions> = {}): BootstrapOptions {
    const { source, owner, binaries } = this;
    return { source, owner, groups: [], binaries, ...more };
  }

  bootstrap(more: Partial<BootstrapOptions> = {}): BootstrapReport {
    return bootstrap(this.options(more));
  }

  open(): Tree {
    return openTree(this.source);
  }

  path(relative: string): string {
    return join(this.source, relative);
  }

  /** Puts bytes in place of a file for the time of `work`; undefined takes the file away. */
  having<T>(relative: string, content: string | Uint8Array | undefined, work: () => T): T {
    const path = this.path(relative);
    const before = readFileSync(path);
    if (content === undefined) unlinkSync(path);
    else writeFileSync(path, content);
    try {
      return work();
    } finally {
      writeFileSync(path, before);
    }
  }

  destroy(): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** Every path of a tree with mode, owner and content, to compare trees whole. */
export function snapshot(source: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (path: string, relative: string) => {
    for (const name of readdirSync(path).sort()) {
      const at = join(path, name);
      const facts = lstatSync(at);
      const mode = (facts.mode & 0o7777).toString(8);
      const what = facts.isDirectory()
        ? "/"
        : facts.isSymbolicLink()
          ? readlinkSync(at)
          : readFileSync(at, "utf8").replaceAll(source, "SOURCE");
      found.set(relative + name, `${mode} ${facts.uid}:${facts.gid} ${what}`);
      if (facts.isDirectory()) walk(at, `${relative}${name}/`);
    }
  };
  walk(source, "");
  return found;
}

/** Paths of a report by action, those that are as they should be left out. */
export function differing(report: BootstrapReport): Record<string, string> {
  const found = report.entries.filter(({ action }) => action !== "same");
  return Object.fromEntries(found.map(({ path, action }) => [path, action]));
}

/** The coded error that `work` throws; a test that gets none fails. */
export function refusal(work: () => unknown): CodedError {
  try {
    work();
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}
