import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { settle } from "../../testdata/tree/settle.ts";
import { cachedText } from "./read-cache.ts";

let source: string;
let tree: { folder: number };
let reads: number;

beforeEach(() => {
  source = mkdtempSync("/tmp/cortexfs-cache-");
  tree = { folder: openSync(source, "r") };
  reads = 0;
});
afterEach(() => {
  closeSync(tree.folder);
  rmSync(source, { recursive: true, force: true });
});

const at = (name: string) => join(source, name);

function text(name: string, value: string | undefined): string | undefined {
  return cachedText(tree, name, () => {
    reads++;
    return value;
  });
}

describe("cachedText()", () => {
  test("reads an unchanged file once", async () => {
    writeFileSync(at("perm"), "rwx\n");
    await settle();
    expect([text("perm", "rwx\n"), text("perm", "never")]).toEqual(["rwx\n", "rwx\n"]);
    expect(reads).toBe(1);
  });

  test("reads again after a replacement, a rewrite of the same size and a set-back time", async () => {
    const file = at("perm");
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
    writeFileSync(at("perm"), "rwx\n");
    text("perm", "rwx\n");
    text("perm", "rwx\n");
    expect(reads).toBe(2);
  });

  test("finds out about an absence by a look, however often its folder changes", async () => {
    await settle();
    for (const other of ["a", "b"]) {
      expect(text("tools", "never")).toBeUndefined();
      writeFileSync(at(other), "");
    }
    expect(reads).toBe(0);
    writeFileSync(at("tools"), "fs.read\n");
    expect(text("tools", "fs.read\n")).toBe("fs.read\n");
    rmSync(at("tools"));
    expect(text("tools", "never")).toBeUndefined();
  });

  test("never keeps what is no regular file, and not what failed", async () => {
    mkdirSync(at("folder"));
    writeFileSync(at("bad"), "x");
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

  test("gives nothing of a file that is reached through a symlink by now", async () => {
    mkdirSync(at("d"));
    writeFileSync(at("d/perm"), "rwx\n");
    await settle();
    expect([text("d/perm", "rwx\n"), text("d/perm", "never"), reads]).toEqual([
      ...["rwx\n", "rwx\n", 1],
    ]);
    renameSync(at("d"), at("elsewhere"));
    symlinkSync("elsewhere", at("d"));
    // The very same file, and the same absence, but who reads has to refuse both.
    const refuse = () => cachedText(tree, "d/perm", (folder) => `refused in ${folder}`);
    expect(refuse()).toBe("refused in undefined");
    expect(cachedText(tree, "d/none", (folder) => `refused in ${folder}`)).toBe(
      "refused in undefined",
    );
  });

  test("reads in the folder that it looked in, also when another one takes its place", async () => {
    for (const name of ["d", "other"]) {
      mkdirSync(at(name));
      writeFileSync(at(`${name}/perm`), `${name}\n`);
    }
    await settle();
    const swap = () => {
      renameSync(at("d"), at("third"));
      renameSync(at("other"), at("d"));
      renameSync(at("third"), at("other"));
    };
    const read = (folder: number | undefined) =>
      readFileSync(`/proc/self/fd/${folder}/perm`, "utf8");
    const first = cachedText(tree, "d/perm", (folder) => {
      swap();
      const found = read(folder);
      swap();
      return found;
    });
    expect([first, cachedText(tree, "d/perm", read)]).toEqual(["d\n", "d\n"]);
    swap();
    expect(cachedText(tree, "d/perm", read)).toBe("other\n");
  });
});
