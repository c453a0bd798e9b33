// What is said to a person must be there: each command of ctx that a hint or a page tells to run.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { commandNames } from "./dispatch.ts";

const top = resolve(import.meta.dir, "../..");

/** "run ctx doctor", "see ctx policy explain coder", "`ctx ls`", and a line of an example. */
const told = /(?:\b(?:run|see|with:?|first|or) |`|^ {4}(?:\$ )?)ctx ([a-z][a-z-]*)(?: ([a-z]+))?/gm;

const groups = ["abi", "agent", "auth", "object", "policy", "terminal"];

function promised(): string[] {
  const found: string[] = [];
  const globs = ["README.md", "docs/**/*.md", "cmd/**/*.ts", "internal/**/*.ts"];
  for (const file of globs.flatMap((glob) => [...new Glob(glob).scanSync({ cwd: top })])) {
    if (file.endsWith(".test.ts")) continue;
    for (const [, first = "", second = ""] of readFileSync(join(top, file), "utf8").matchAll(
      told,
    )) {
      const known = groups.includes(first) && second !== "";
      found.push(`${known ? `${first} ${second}` : first} (${file})`);
    }
  }
  return found;
}

test("no hint and no page names a command that this version does not have", () => {
  const there = new Set([
    ...commandNames(),
    ...groups.flatMap((group) => commandNames(group).map((name) => `${group} ${name}`)),
  ]);
  const all = promised();
  expect(all.length).toBeGreaterThan(40);
  expect(all.filter((one) => !there.has(one.replace(/ \(.*/, "")))).toEqual([]);
});
