import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportAbi } from "./export.ts";
import { abiFiles } from "./files.ts";

const base = mkdtempSync(join(tmpdir(), "abi-export-test-"));
afterAll(() => rmSync(base, { recursive: true, force: true }), 30_000);

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

test("a new folder has every file, byte for byte, and nothing is left beside it", () => {
  const folder = join(base, "new");
  expect(exportAbi(folder, false)).toEqual({ folder, files: abiFiles().size });
  expect(filesBelow(folder)).toEqual([...abiFiles().keys()].sort());
  for (const [file, text] of abiFiles()) {
    expect(readFileSync(join(folder, file), "utf8")).toBe(text);
  }
  expect(readdirSync(base)).toEqual(["new"]);
});

test("an empty folder is filled", () => {
  const folder = join(base, "empty");
  mkdirSync(folder);
  exportAbi(folder, false);
  expect(filesBelow(folder)).toEqual([...abiFiles().keys()].sort());
});

test("a folder that holds something is refused, and with force only our names are written", () => {
  const folder = join(base, "held");
  mkdirSync(folder);
  writeFileSync(join(folder, "mine"), "mine");
  writeFileSync(join(folder, "errors.json"), "old");
  expect(() => exportAbi(folder, false)).toThrow("is not empty");
  expect(filesBelow(folder)).toEqual(["errors.json", "mine"]);
  exportAbi(folder, true);
  expect(readFileSync(join(folder, "mine"), "utf8")).toBe("mine");
  expect(readFileSync(join(folder, "errors.json"), "utf8")).not.toBe("old");
  expect(filesBelow(folder).length).toBe(abiFiles().size + 1);
});

test("a name that a folder took is met before anything is replaced", () => {
  const folder = join(base, "taken");
  mkdirSync(join(folder, "exit-codes.json"), { recursive: true });
  writeFileSync(join(folder, "errors.json"), "old");
  expect(() => exportAbi(folder, true)).toThrow('"exit-codes.json" is a folder there');
  expect(readFileSync(join(folder, "errors.json"), "utf8")).toBe("old");
  expect(readdirSync(folder).sort()).toEqual(["errors.json", "exit-codes.json"]);
});

const refused: readonly (readonly [string, () => string, string])[] = [
  ["an empty text", () => "", "EINVAL"],
  ["a missing parent", () => join(base, "a/b"), "ENOENT"],
  ["a file", () => join(base, "held/mine"), "EINVAL"],
  ["below a file", () => join(base, "held/mine/x"), "ENOENT"],
];

for (const [what, path, code] of refused) {
  test(`${what} is ${code}`, () => {
    let found: unknown;
    try {
      exportAbi(path(), true);
    } catch (error) {
      found = (error as { code?: string }).code;
    }
    expect(found).toBe(code);
  });
}
