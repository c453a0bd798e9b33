// What a user may ask for who can write an agent's files, under a server that could become anybody.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chownSync, closeSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settle } from "../../testdata/tree/settle.ts";
import { openPath } from "../os/mod.ts";
import { definerOf } from "./definer.ts";
import { facts } from "./example.ts";
import { identityLayer } from "./identity-layer.ts";

const user = 61_201;
const root = process.getuid?.() === 0;
if (!root) console.log("SKIP who defines an agent: needs root to give files away");

const controls = ["owner", "uid", "gid", "groups"].map((name) => `agent/coder.d/${name}`);

describe.skipIf(!root)("definerOf()", () => {
  let base = "";
  let folder = -1;
  beforeEach(() => {
    base = mkdtempSync("/tmp/ctx-definer-");
    mkdirSync(join(base, "agent/coder.d"), { recursive: true });
    for (const path of controls) writeFileSync(join(base, path), "0\n");
    folder = openPath(base, "folder");
  });
  afterEach(() => {
    closeSync(folder);
    rmSync(base, { recursive: true, force: true });
  });
  const definer = () => definerOf({ source: base, folder, close() {} }, "coder");
  const give = (uid: number, ...paths: string[]) => {
    for (const path of paths) chownSync(join(base, path), uid, uid);
  };

  test("is nobody in particular while only root can write", () => {
    expect(definer()).toBeUndefined();
  });

  for (const paths of [controls, ["agent/coder.d"], ["agent/coder.d/groups"], ["agent"]]) {
    test(`is the user who owns ${paths.length > 1 ? "the controls" : paths[0]}`, () => {
      give(user, ...paths);
      expect(definer()).toEqual({ uid: user, gids: [user], several: false });
    });
  }

  test("is no one user when files belong to several", () => {
    give(user, "agent/coder.d", ...controls);
    give(user + 1, "agent/coder.d/uid");
    expect(definer()?.several).toBe(true);
  });

  test("is another one as soon as a file is given away, however long it was the same", async () => {
    for (const [n, path] of ["agent/coder.d", ...controls].entries()) {
      await settle();
      expect([definer(), definer()]).toEqual([undefined, undefined]);
      give(user + n, path);
      expect(definer()?.uid).toBe(user + n);
      give(0, path);
    }
    give(user, "agent");
    expect(definer()?.uid).toBe(user);
    give(user + 1, "agent");
    expect(definer()?.uid).toBe(user + 1);
  });

  test("has the groups that the host says", () => {
    give(1, "agent/coder.d");
    expect(definer()?.gids[0]).toBe(1);
  });
});

describe("an identity that a user may write", () => {
  const definer = { uid: user, gids: [user, 27], several: false };
  const layer = (change: Partial<typeof facts.identity>) => {
    const own = { uid: user, gid: user, groups: [], definer };
    return identityLayer({ ...facts, identity: { ...facts.identity, ...own, ...change } });
  };

  test("may be that user's own, with its groups", () => {
    expect([layer({}).allowed, layer({ gid: 27, groups: [27, user] }).allowed]).toEqual([
      true,
      true,
    ]);
  });

  for (const [control, change] of [
    ["uid", { uid: 4000 }],
    ["gid", { gid: 42 }],
    ["groups", { groups: [27, 0] }],
    ["uid", { uid: 0, rootAgents: true }],
  ] as const) {
    test(`may not be more: ${JSON.stringify(change)}`, () => {
      const verdict = layer(change);
      expect([verdict.allowed, verdict.at]).toEqual([false, `agent/coder.d/${control}`]);
      expect(verdict.because).toStartWith(`${control} names`);
    });
  }

  test("is refused whole when the files belong to several users", () => {
    const verdict = layer({ definer: { ...definer, several: true } });
    expect([verdict.allowed, verdict.at]).toEqual([false, "agent/coder.d"]);
  });

  test("is not looked at while only root can write it", () => {
    expect(layer({ uid: 4000, gid: 42, groups: [0], definer: undefined }).allowed).toBe(true);
  });
});
