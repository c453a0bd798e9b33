import { expect, test } from "bun:test";
import { lastLine, skipLines, summarize } from "./summary.ts";

const output = `
a.test.ts:
SKIP needs root
(pass) one [0.05ms]
(skip) group > two
(fail) three [0.66ms]
(pass) four [0.04ms]

 2 pass
 1 skip
 1 fail
 2 expect() calls
Ran 4 tests across 1 file. [18.00ms]
`;

test("a skipped test is named and a test that said SKIP is not counted as passed", () => {
  const counts = summarize(output, 1);
  expect(counts).toEqual({ passed: 1, failed: 1, skipped: ["group > two", "needs root"] });
  expect(lastLine(counts)).toBe("1 passed, 1 failed, 2 skipped");
});

test("a file without a single test has failed", () => {
  expect(summarize(" 0 pass\n 0 fail\nRan 0 tests across 1 file. [1ms]\n", 0).failed).toBe(1);
});

test("a process that ends badly after passing tests has failed", () => {
  expect(summarize(" 3 pass\n 0 fail\nRan 3 tests\n", 139).failed).toBe(1);
});

test("a group that did not run takes one line and says its size", () => {
  expect(skipLines(["a > b", "c > d", "needs root", "a > e > f"])).toEqual([
    "a: 2 tests",
    "c > d",
    "needs root",
  ]);
});
