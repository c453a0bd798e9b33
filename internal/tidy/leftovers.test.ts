import { expect, test } from "bun:test";
import { readSyntax } from "./syntax.ts";
import { isTest, type SourceFile, sourceFiles } from "./tree.ts";

/** The rules and their own examples live in this folder. */
const files = sourceFiles().filter(({ path }) => !path.startsWith("internal/tidy/"));

const markers = /\b(?:TODO|FIXME|XXX|HACK)\b|not implemented/;
const silenced = /@ts-(?:ignore|nocheck|expect-error)|biome-ignore(?!.*: \S+ \S+)/;

/** In comments: a fixture may well be about somebody's list of things to do. */
function markedComments(file: SourceFile): string[] {
  return readSyntax(file)
    .comments.filter(({ text }) => markers.test(text) || silenced.test(text))
    .map(({ text, line }) => `${file.path}:${line}: ${text.trim()}`);
}

function leftCalls(file: SourceFile): string[] {
  return readSyntax(file).calls.flatMap(({ name, line }) => {
    const why = callRefusal(file.path, name);
    return why === undefined ? [] : [`${file.path}:${line}: ${name}: ${why}`];
  });
}

function callRefusal(path: string, name: string): string | undefined {
  if (/^(?:test|it|describe)\.only$/.test(name)) return "hides the other tests";
  if (/^(?:test|it|describe)\.(?:skip|todo)$/.test(name)) return "a test runs or goes";
  if (isTest(path) || !/^(?:cmd|internal)\//.test(path)) return undefined;
  if (/^l?chownSync$/.test(name) && !path.startsWith("internal/os/")) {
    return "a name may lead elsewhere by then: fchownSync on what was opened";
  }
  if (/^(?:cmd|internal\/cli)\//.test(path)) return undefined;
  const printsOrEnds = name.startsWith("console.") || name === "process.exit";
  return printsOrEnds ? "only a command prints or exits" : undefined;
}

function debuggers(file: SourceFile): string[] {
  return /^\s*debugger;?\s*$/m.test(file.text) ? [`${file.path}: debugger`] : [];
}

test("nothing unfinished, silenced or for debugging is left in the tree", () => {
  expect(files.length).toBeGreaterThan(60);
  expect(files.flatMap((file) => [...markedComments(file), ...debuggers(file)])).toEqual([]);
});

test("no test is switched off and no library prints or ends the process", () => {
  expect(files.flatMap(leftCalls)).toEqual([]);
});

const caught: readonly (readonly [string, string])[] = [
  ["internal/run/a.ts", "// TODO: later"],
  ["internal/run/a.ts", "// @ts-ignore"],
  ["internal/run/a.ts", "// biome-ignore lint/x/y: why"],
  ["internal/run/a.ts", "console.log(1);"],
  ["internal/run/a.ts", "process.exit(1);"],
  ["internal/run/a.test.ts", "test.only('x', () => {});"],
  ["internal/run/a.test.ts", "describe.skip('x', () => {});"],
  ["cmd/ctx/a.ts", "debugger;"],
];

for (const [path, text] of caught) {
  test(`${text} in ${path} is seen`, () => {
    const file = { path, text };
    const seen = [...markedComments(file), ...leftCalls(file), ...debuggers(file)];
    expect(seen).toHaveLength(1);
  });
}
