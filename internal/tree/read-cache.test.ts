import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Tree } from "./open.ts";
import { cachedText } from "./read-cache.ts";

let source: string;
let tree: Tree;
let reads: number;

beforeEach(() => {
  source = mkdtempSync("/tmp/cortexfs-cache-");
  tree = { source, folder: -1, close: () => undefined };
  reads = 0;
});
afterEach(() => rmSync(source, { recursive: true, force: true }));

function text(name: string, value: string | undefined): string | undefined {
  return cachedText(tree, name, () => {
    reads++;
    return value;
  });
}

/** Waits until what was just written is old enough to be kept. */
async function settle(): Promise<void> {
  const until = performance.now() + 60;
  while (performance.now() < until) await Bun.sleep(5);
}

describe("cachedText()", () => {
  test("reads an unchanged file once", async () => {
    writeFileSync(join(source, "perm"), "rwx\n");
    await settle();
    expect([text("perm", "rwx\n"), text("perm", "never")]).toEqual(["rwx\n", "rwx\n"]);
    expect(reads).toBe(1);
  });

  test("reads again after a replacement, a rewrite of the same size and a set-back time", async () => {
    const file = join(source, "perm");
    writeFileSync(file, "rwx\n");
    await settle();
    text("perm", "rwx\n");
    writeFileSync(`${file}.new`, "r--\n");
    renameSync(`${file}.new`, file);
    expect(text("perm", "r--\n")).toBe("r--\n");
    await settle();
    text("perm", "r--\n");
    writeFileSync(file, "-w-\n");
    utimesSync(file, 0, 0);
    expect(text("perm", "-w-\n")).toBe("-w-\n");
    expect(reads).toBe(4);
  });

  test("does not keep a file that changed a moment ago", () => {
    writeFileSync(join(source, "perm"), "rwx\n");
    text("perm", "rwx\n");
    text("perm", "rwx\n");
    expect(reads).toBe(2);
  });

  test("keeps an absence until the folder changes", async () => {
    await settle();
    expect([text("tools", undefined), text("tools", undefined), reads]).toEqual([
      undefined,
      undefined,
      1,
    ]);
    writeFileSync(join(source, "tools"), "fs.read\n");
    expect(text("tools", "fs.read\n")).toBe("fs.read\n");
  });

  test("never keeps what is no regular file, and not what failed", async () => {
    mkdirSync(join(source, "folder"));
    writeFileSync(join(source, "bad"), "x");
    await settle();
    text("folder", "a");
    text("folder", "b");
    expect(reads).toBe(2);
    const failing = () =>
      cachedText(tree, "bad", () => {
        reads++;
        throw new Error("malformed");
      });
    expect(failing).toThrow("malformed");
    expect(failing).toThrow("malformed");
    expect(reads).toBe(4);
  });
});
