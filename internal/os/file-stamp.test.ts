// Stamps: the same for what has not changed, another one after any change; and who is at a path.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  hostRoot,
  isFileAt,
  lookPath,
  openToLook,
  type Seen,
  sizeOf,
  stampBytes,
  stampFacts,
  stampIn,
} from "./mod.ts";

let base: string;
let folder: number;
beforeEach(() => {
  base = mkdtempSync("/tmp/cortexfs-stamp-");
  folder = openSync(base, "r");
});
afterEach(() => {
  closeSync(folder);
  rmSync(base, { recursive: true, force: true });
});

const at = (name: string) => join(base, name);

function look(name: string): [Seen, Buffer] {
  const stamps = Buffer.alloc(2 * stampBytes, 0xff);
  const seen = stampIn(folder, lookPath(name), stamps, stampBytes);
  expect(stamps.subarray(0, stampBytes).every((byte) => byte === 0xff)).toBe(true);
  return [seen, stamps.subarray(stampBytes)];
}

describe("stampIn()", () => {
  test("tells files, folders, what is absent and what is none of them", () => {
    writeFileSync(at("file"), "x");
    mkdirSync(at("folder"));
    symlinkSync("file", at("link"));
    const seen = ["file", "folder", "absent", "link", "file/x"].map((name) => look(name)[0]);
    expect(seen).toEqual(["file", "folder", "absent", "other", "other"]);
    expect(look("absent")[1].every((byte) => byte === 0)).toBe(true);
  });

  test("says owner and mode", () => {
    writeFileSync(at("file"), "x");
    chmodSync(at("file"), 0o751);
    const facts = stampFacts(look("file")[1], 0);
    const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    expect(facts).toEqual({ kind: "file", uid, gid, mode: 0o100751 });
    mkdirSync(at("folder"), { mode: 0o700 });
    expect(stampFacts(look("folder")[1], 0)).toMatchObject({ kind: "folder", mode: 0o040700 });
  });

  test("is another one after every change of a file, and not after a look", () => {
    writeFileSync(at("file"), "x");
    const changes = [
      () => appendFileSync(at("file"), "y"),
      () => chmodSync(at("file"), 0o600),
      () => utimesSync(at("file"), 1, 1),
      () => {
        writeFileSync(at("new"), "xy");
        utimesSync(at("new"), 1, 1);
        renameSync(at("new"), at("file"));
      },
    ];
    for (const change of changes) {
      const [, before] = look("file");
      expect(look("file")[1]).toEqual(before);
      change();
      expect(look("file")[1]).not.toEqual(before);
    }
  });

  test("of a folder is of itself, not of what is in it", () => {
    mkdirSync(at("folder"), { mode: 0o755 });
    const [, before] = look("folder");
    writeFileSync(at("folder/x"), "x");
    expect(look("folder")[1]).toEqual(before);
    chmodSync(at("folder"), 0o700);
    expect(look("folder")[1]).not.toEqual(before);
    chmodSync(at("folder"), 0o755);
    renameSync(at("folder"), at("old"));
    mkdirSync(at("folder"), { mode: 0o755 });
    expect(look("folder")[1]).not.toEqual(before);
    expect(look("old")[1]).toEqual(before);
  });
});

describe("openToLook()", () => {
  const reached = (path: string, root = folder) => {
    const fd = openToLook(root, lookPath(path));
    if (fd !== undefined) closeSync(fd);
    return fd !== undefined;
  };

  test("reaches folders below and no others, through no symlink", () => {
    mkdirSync(at("a/b"), { recursive: true });
    symlinkSync("a", at("link"));
    symlinkSync("b", at("a/last"));
    expect(["a/b", ".", "a"].every((path) => reached(path))).toBe(true);
    const refused = ["link/b", "link", "a/last", "..", "a/../..", base, "none"];
    expect(refused.filter((path) => reached(path))).toEqual([]);
    expect([reached(base, hostRoot), reached(at("link"), hostRoot)]).toEqual([true, false]);
  });
});

describe("isFileAt()", () => {
  test("knows the open file at its path, and at a second name, and nowhere else", () => {
    mkdirSync(at("d"));
    writeFileSync(at("d/log"), "xyz");
    const fd = openSync(at("d/log"), "r");
    const is = (path: string) => isFileAt(folder, lookPath(path), fd);
    try {
      expect(sizeOf(fd)).toBe(3);
      expect(is("d/log")).toBe(true);
      linkSync(at("d/log"), at("second"));
      symlinkSync("d/log", at("link"));
      symlinkSync("d", at("e"));
      expect(["second", "link", "e/log", "none", "d/none"].map(is)).toEqual([
        ...[true, false, false, false, false],
      ]);
      renameSync(at("second"), at("third"));
      writeFileSync(at("second"), "xyz");
      expect(is("second")).toBe(false);
      expect(() => is("d/log/x")).toThrow("open");
    } finally {
      closeSync(fd);
    }
  });
});
