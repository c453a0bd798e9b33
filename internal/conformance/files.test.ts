import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { abiFile, abiFileNames, abiFiles } from "./files.ts";

const top = resolve(import.meta.dir, "../../abi");

test("the embedded files are those of abi/, byte for byte", () => {
  const paths = readdirSync(top, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(top, path)).isFile() && !path.endsWith(".tmp"))
    .sort();
  expect(paths.length).toBeGreaterThan(1);
  expect([...abiFiles().keys()]).toEqual(paths);
  const encoder = new TextEncoder();
  const different = paths.filter(
    (path) => Buffer.compare(readFileSync(join(top, path)), encoder.encode(abiFile(path))) !== 0,
  );
  expect(different).toEqual([]);
});

test("a folder's names are those directly in it; a file that is not there is ENOENT", () => {
  const root = [...abiFiles().keys()].filter((path) => path.startsWith("op/v1/accept/"));
  expect(abiFileNames("op/v1/accept").map((name) => `op/v1/accept/${name}`)).toEqual(root);
  expect(() => abiFile("op/v0/kinds.json")).toThrow('abi file "op/v0/kinds.json" does not exist');
});
