// The comparison itself: a judge that errs is caught, and only what a schema cannot see is let pass.

import { expect, setDefaultTimeout, test } from "bun:test";
import type { Judgement } from "../abi/mod.ts";
import { corpusOf, disagreement } from "./corpus.ts";
import { agree } from "./oracle.ts";
import { type Protocol, protocolNamed } from "./registry.ts";

setDefaultTimeout(120_000);

const ok: Judgement = { ok: true, kind: "x" };
const refused = (by: "line" | "schema" | "rule"): Judgement => {
  return { ok: false, code: "EINVAL", path: "", message: "x", by };
};

test("only a rule or the framing may refuse what the schema accepts", () => {
  const table = [ok, refused("line"), refused("schema"), refused("rule")].map((judged) =>
    (["accept", "schema", "line"] as const).map((verdict) => agree(judged, verdict)),
  );
  expect(table).toEqual([
    [true, false, false],
    [true, true, true],
    [false, true, false],
    [true, false, false],
  ]);
});

const op = protocolNamed("op");
const corpus = corpusOf(op);

/** How many of the first mutants tell a wrong judge from the schema. */
function caught(judge: (line: string) => Judgement): number {
  const wrong: Protocol = { ...op, judge };
  let found = 0;
  for (let seed = 1; seed <= 1000; seed++) {
    if (disagreement(wrong, corpus, seed) !== undefined) found++;
  }
  return found;
}

const wrongJudges: readonly (readonly [string, (line: string) => Judgement])[] = [
  [
    "accepts any JSON",
    (line) => (op.judge(line).ok || /^\{.*\}$/.test(line) ? ok : op.judge(line)),
  ],
  ["accepts an unknown kind", (line) => unless(op.judge(line), "/op", ok)],
  ["accepts an empty session", (line) => unless(op.judge(line), "/session", ok)],
  [
    "refuses what it does not know",
    (line) => (line.includes("x_") ? refused("schema") : op.judge(line)),
  ],
  ["takes its schema for a rule", (line) => unless(op.judge(line), "/id", refused("rule"))],
];

function unless(judged: Judgement, path: string, other: Judgement): Judgement {
  return !judged.ok && judged.by === "schema" && judged.path === path ? other : judged;
}

for (const [what, judge] of wrongJudges) {
  test(`a judge that ${what} is caught within a thousand mutants, the right one is not`, () => {
    expect(caught(op.judge)).toBe(0);
    expect(caught(judge)).toBeGreaterThan(0);
  });
}
