// What bootstrap will not do, and that it has done nothing then.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";

import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { differing, isRoot, refusal, TestTree } from "../../testdata/tree/test-tree.ts";
import { recordPath } from "./bootstrap-record.ts";

// Every tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let tree: TestTree;
beforeEach(() => {
  tree = new TestTree();
});
afterEach(() => tree.destroy());

const write = (path: string, text: string) => writeFileSync(tree.path(path), text);

describe("bootstrap refuses", () => {
  test("anything foreign in the root, and names it", () => {
    tree.bootstrap();
    for (const name of ["notes.txt", ".git", "agents"]) write(name, "x");
    const error = refusal(() => tree.bootstrap());
    expect(error.code).toBe("EEXIST");
    expect(error.message).toContain('".git", "agents", "notes.txt"');
    expect(error.hint).toContain("status bin model agent tool home shared");
  });

  test("a folder that holds something else, without writing into it", () => {
    mkdirSync(tree.source);
    write("thesis.tex", "x");
    expect(refusal(() => tree.bootstrap()).code).toBe("EEXIST");
    expect(readdirSync(tree.source)).toEqual(["thesis.tex"]);
  });

  test("a path with white space", () => {
    for (const name of ["my tree", "a\tb", "a\nb", "a b"]) {
      const error = refusal(() => tree.bootstrap({ source: join(tree.base, name) }));
      expect([error.code, error.message.includes("white space")]).toEqual(["EINVAL", true]);
      expect(existsSync(join(tree.base, name))).toBe(false);
    }
  });

  test("a path one byte too long for the kernel, and makes one that just fits", () => {
    const room = 256 - "#!/bin/ctx exec\n".length - tree.base.length - 1;
    const long = join(tree.base, "x".repeat(room + 1));
    const error = refusal(() => tree.bootstrap({ source: long }));
    expect([error.code, error.message.includes("1 bytes too long")]).toEqual(["EINVAL", true]);
    const fits = join(tree.base, "x".repeat(room));
    tree.bootstrap({ source: fits });
    const run = Bun.spawnSync([join(fits, "tool/tsh")]);
    expect(run.stdout.toString()).toBe(`ctx exec ${fits}/tool/tsh\n`);
  });

  test("another owner than the tree has", () => {
    tree.bootstrap();
    if (!isRoot) return console.log("SKIP another owner: only root can name one");
    const error = refusal(() => tree.bootstrap({ owner: { uid: 61185, gid: 61185 } }));
    expect([error.code, error.hint?.includes("owner 61184")]).toEqual(["EINVAL", true]);
  });

  test("a missing program before anything is made", () => {
    rmSync(join(tree.binaries, "ctxd"));
    const error = refusal(() => tree.bootstrap());
    expect([error.code, error.message.includes('"ctxd"')]).toEqual(["ENOENT", true]);
    expect(existsSync(tree.source)).toBe(false);
  });

  test("a symlink or a file where a folder belongs, and writes nothing through it", () => {
    tree.bootstrap();
    const trap = join(tree.base, "trap");
    mkdirSync(trap);
    rmSync(tree.path("agent/coder.d"), { recursive: true });
    symlinkSync(trap, tree.path("agent/coder.d"));
    expect(refusal(() => tree.bootstrap()).message).toContain("agent/coder.d");
    expect(readdirSync(trap)).toEqual([]);
    unlinkSync(tree.path("agent/coder.d"));
    write("agent/coder.d", "file");
    expect(refusal(() => tree.bootstrap()).code).toBe("EEXIST");
  });

  test("a record that is not its own, by name", () => {
    tree.bootstrap();
    for (const text of [
      "",
      "{",
      "[]",
      '{"schema":"other"}',
      '{"schema":"cortexfs.bootstrap/v1"}',
    ]) {
      write(recordPath, text);
      const error = refusal(() => tree.bootstrap());
      expect([error.code, error.message.includes(recordPath)]).toEqual(["EIO", true]);
    }
    unlinkSync(tree.path(recordPath));
    expect(differing(tree.bootstrap())).toEqual({});
  });

  test("to work beside another bootstrap", () => {
    tree.bootstrap();
    const holder = Bun.spawnSync([
      "flock",
      tree.source,
      process.execPath,
      "-e",
      `const { bootstrap } = await import(${JSON.stringify(join(import.meta.dir, "bootstrap.ts"))});
       try { bootstrap(${JSON.stringify(tree.options())}); } catch (error) { console.log(error.code); }`,
    ]);
    expect(holder.stdout.toString()).toBe("busy\n");
  });
});
