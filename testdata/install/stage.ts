// A bootstrapped tree and a folder of manifests beside it, for the tests of installed objects.

import { expect } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  checkManifest,
  type Installed,
  type InstallOptions,
  installObject,
} from "../../internal/install/mod.ts";
import type { Tree } from "../../internal/tree/mod.ts";
import { refusal, snapshot, TestTree } from "../tree/test-tree.ts";
import { type Candidate, writeCandidate } from "./candidates.ts";

export const installedAt = new Date("2026-01-02T03:04:05.678Z");

export class InstallStage {
  readonly made = new TestTree();
  readonly work = join(this.made.base, "work");
  readonly tree: Tree;

  constructor() {
    this.made.bootstrap();
    this.tree = this.made.open();
    mkdirSync(this.work);
  }

  path(relative: string): string {
    return this.made.path(relative);
  }

  manifest(said: Partial<Candidate> = {}): string {
    return writeCandidate(this.work, said);
  }

  install(said: Partial<Candidate> = {}, how: Partial<InstallOptions> = {}): Installed {
    return this.installPath(this.manifest(said), how);
  }

  installPath(path: string, how: Partial<InstallOptions> = {}): Installed {
    const { tree, made } = this;
    const checked = checkManifest(path);
    try {
      const places = { config: join(made.base, "none"), uid: made.owner.uid };
      const usual = { tier: "system", uid: made.owner.uid, replace: false } as const;
      return installObject({ tree, places, checked, now: installedAt, ...usual, ...how });
    } finally {
      checked.close();
    }
  }

  /** Code and message of a refusal, after which the tree is as it was. */
  refusedUnchanged(work: () => unknown): string {
    const before = snapshot(this.made.source);
    const { code, message } = refusal(work);
    expect(snapshot(this.made.source)).toEqual(before);
    return `${code} ${message}`;
  }

  close(): void {
    this.tree.close();
    this.made.destroy();
  }
}
