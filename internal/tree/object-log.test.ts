import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { isRoot, TestTree } from "../../testdata/tree/test-tree.ts";
import { appendObjectLog, objectLogBytesMax, objectLogLineBytesMax, type Tree } from "./mod.ts";

setDefaultTimeout(60_000);

let made: TestTree;
let tree: Tree;
beforeAll(() => {
  made = new TestTree();
  made.bootstrap({});
  tree = made.open();
});
afterAll(() => {
  tree.close();
  made.destroy();
});

const log = "agent/coder.d/log";
const path = () => made.path(log);
const lines = () => {
  const text = readFileSync(path(), "utf8");
  expect(text.endsWith("\n")).toBe(true);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line));
};

test("events are added in order, each a line with its time; the file is the owner's", () => {
  rmSync(path(), { force: true });
  appendObjectLog(tree, log, { type: "a" });
  appendObjectLog(tree, log, { type: "b", text: "x\ny" });
  const ts = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(lines()).toEqual([
    { ts, type: "a" },
    { ts, type: "b", text: "x\ny" },
  ]);
  if (isRoot) expect(statSync(path()).uid).toBe(made.owner.uid);
});

test("a full log loses its older half and no part of a line", () => {
  writeFileSync(path(), "");
  const text = "z".repeat(1000);
  for (let n = 0; n < 600; n++) {
    appendObjectLog(tree, log, { n, text });
    expect(statSync(path()).size).toBeLessThanOrEqual(objectLogBytesMax);
  }
  const kept = lines().map(({ n }) => n);
  expect(kept.at(-1)).toBe(599);
  expect(kept).toEqual(kept.map((_, at) => (kept[0] as number) + at));
  expect(statSync(path()).size).toBeGreaterThan(objectLogBytesMax / 3);
});

test("an event that is too long is left out, a damaged or huge file is no obstacle", () => {
  writeFileSync(path(), "");
  appendObjectLog(tree, log, { text: "x".repeat(objectLogLineBytesMax) });
  expect(statSync(path()).size).toBe(0);
  for (const before of ["y".repeat(objectLogBytesMax), "y".repeat(3 * objectLogBytesMax)]) {
    writeFileSync(path(), before);
    appendObjectLog(tree, log, { type: "after" });
    expect(lines()).toMatchObject([{ type: "after" }]);
  }
});

test("a link, a folder or nothing in its place is left alone, without a word", () => {
  const outside = `${made.base}/outside`;
  writeFileSync(outside, "untouched");
  rmSync(path());
  symlinkSync(outside, path());
  appendObjectLog(tree, log, { type: "a" });
  expect(readFileSync(outside, "utf8")).toBe("untouched");
  rmSync(path());
  mkdirSync(path());
  appendObjectLog(tree, log, { type: "a" });
  expect(statSync(path()).isDirectory()).toBe(true);
  rmSync(path(), { recursive: true });
  appendObjectLog(tree, "agent/nobody.d/log", { type: "a" });
  appendObjectLog(tree, "../log", { type: "a" });
});
