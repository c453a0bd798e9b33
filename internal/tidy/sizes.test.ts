import { expect, test } from "bun:test";
import { readSyntax } from "./syntax.ts";
import { isTest, sourceFiles } from "./tree.ts";

const fileLinesMax = 300;
const functionLinesMax = 70;
const mainLinesMax = 40;
const filesMin = 60;

/** Files that may be longer, each with the reason why a split would read worse. */
const longFiles: Readonly<Record<string, string>> = {
  "sdk/agent.ts": "an author takes this one file along",
};

const files = sourceFiles();

function linesOf(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

test("no file is longer than 300 lines without a reason", () => {
  expect(files.length).toBeGreaterThan(filesMin);
  const long = files
    .filter(({ path, text }) => linesOf(text) > fileLinesMax && longFiles[path] === undefined)
    .map(({ path, text }) => `${path}: ${linesOf(text)} lines`);
  expect(long).toEqual([]);
});

test("every reason for a long file is still needed", () => {
  const long = files.filter(({ text }) => linesOf(text) > fileLinesMax).map(({ path }) => path);
  expect(Object.keys(longFiles).filter((path) => !long.includes(path))).toEqual([]);
});

test("no function is longer than 70 lines", () => {
  const product = files.filter(({ path }) => !isTest(path));
  const spans = product.map((file) => ({ path: file.path, functions: readSyntax(file).functions }));
  expect(spans.flatMap(({ functions }) => functions).length).toBeGreaterThan(filesMin);
  const long = spans.flatMap(({ path, functions }) =>
    functions
      .filter(({ lines }) => lines > functionLinesMax)
      .map(({ line, lines }) => `${path}:${line}: ${lines} lines`),
  );
  expect(long).toEqual([]);
});

test("a program's main does nothing", () => {
  const mains = files.filter(({ path }) => /^cmd\/[^/]+\/main\.ts$/.test(path));
  expect(mains.length).toBeGreaterThan(0);
  const long = mains
    .filter(({ text }) => linesOf(text) >= mainLinesMax)
    .map(({ path, text }) => `${path}: ${linesOf(text)} lines`);
  expect(long).toEqual([]);
});

test("the measure of a function sees methods, arrows and nested ones", () => {
  const text = "class A {\n  m() {\n    return () => {\n    };\n  }\n}\n";
  const lines = readSyntax({ path: "a.ts", text }).functions.map((one) => one.lines);
  expect(lines.sort()).toEqual([2, 4]);
});
