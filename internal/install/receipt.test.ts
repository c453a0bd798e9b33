import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { refusal, TestTree } from "../../testdata/tree/test-tree.ts";
import type { Tree } from "../tree/mod.ts";
import { type InstallReceipt, readInstallReceipt } from "./mod.ts";
import { receiptText } from "./receipt.ts";

// A tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let made: TestTree;
let tree: Tree;
beforeAll(() => {
  made = new TestTree();
  made.bootstrap();
  tree = made.open();
  mkdirSync(made.path("tool/box.open.d"));
  mkdirSync(made.path("home/1000/tool/box.open.d"), { recursive: true });
});
afterAll(() => {
  tree.close();
  made.destroy();
});

const hex = (digit: string) => digit.repeat(64);

const receipt: InstallReceipt = {
  schema: "cortexfs.object-install/v2",
  class: "tool",
  name: "box.open",
  version: "1.2.0-rc.1+build.5",
  tier: "system",
  executable: { dev: "18446744073709551615", ino: "9007199254740993", sha256: hex("a"), bytes: 0 },
  manifest_sha256: hex("b"),
  definition: hex("c"),
  installed_at: "2026-01-02T03:04:05.678Z",
  previous: hex("d"),
};

const file = "tool/box.open.d/install.json";

function put(text: string, path = file): void {
  rmSync(made.path(path), { force: true });
  writeFileSync(made.path(path), text);
}

const read = (object = "tool/box.open") => readInstallReceipt(tree, object);

describe("readInstallReceipt()", () => {
  test("gives back what was written, to the last digit of an inode", () => {
    put(receiptText(receipt));
    expect(read()).toEqual(receipt);
    const { definition: _, previous: __, ...least } = receipt;
    put(receiptText({ ...least, version: null }));
    expect(read()).toEqual({ ...least, version: null });
  });

  test("reads one of the user tier in a home", () => {
    const user: InstallReceipt = { ...receipt, tier: "user" };
    put(receiptText(user), "home/1000/tool/box.open.d/install.json");
    expect(read("home/1000/tool/box.open")).toEqual(user);
  });

  test("is undefined for an object without one, and without its folder", () => {
    rmSync(made.path(file), { force: true });
    expect(read()).toBeUndefined();
    expect(read("tool/fs.read")).toBeUndefined();
    expect(read("home/4242/tool/none")).toBeUndefined();
  });

  test("names file, line and column of what is damaged", () => {
    const text = receiptText(receipt);
    for (const [from, to, place, reason] of [
      ['"version"', '"versoin"', "line 5, column 3", 'field "versoin" is not known'],
      ['"tier": "system"', '"tier": "root"', "line 6, column 3", '"tier" is not what it must be'],
      [`"${hex("a")}"`, '"a"', "line 10, column 5", '"sha256" is not what it must be'],
      ['"18446744073709551615"', "18", "line 8, column 5", '"dev" is not what it must be'],
      ['"name": "box.open"', '"name": "box.shut"', "line 4, column 3", "receipt of"],
      ['"tier": "system"', '"tier": "user"', "line 4, column 3", "home/UID/tool/box.open"],
      ['  "class": "tool",\n', "", "line 1, column 1", 'field "class" is missing'],
      ["object-install/v2", "object-install/v3", "line 2, column 3", '"schema" is not'],
      ["}\n", "", "line 17, column 1", "is expected"],
    ] as const) {
      expect(text).toContain(from);
      put(text.replace(from, to));
      const said = refusal(read);
      expect(said.code).toBe("EINVAL");
      expect(said.message).toContain(`"${file}" ${place}: `);
      expect(said.message).toContain(reason);
      expect(said.place?.file).toBe(file);
    }
  });

  test("follows no symlink and reads no more than a control's size", () => {
    put(receiptText(receipt), "elsewhere");
    rmSync(made.path(file));
    symlinkSync(made.path("elsewhere"), made.path(file));
    expect(refusal(read).code).toBe("EACCES");
    put(" ".repeat(300 * 1024));
    expect(refusal(read).code).toBe("EMSGSIZE");
  });
});
