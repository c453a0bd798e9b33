// Ten thousand random mutations of goldens a protocol get the same verdict from the judge in the code
// and from the schema in `abi/`.

import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { corpusOf, disagreement, mutantOf } from "./corpus.ts";
import { protocols } from "./registry.ts";

setDefaultTimeout(120_000);

const mutationsPerProtocol = 10_000;

for (const protocol of protocols) {
  test(`${protocol.name}: the judge and the schema agree on mutated goldens`, () => {
    const corpus = corpusOf(protocol);
    expect(corpus.length).toBeGreaterThan(20);
    const found = fc.check(
      fc.property(fc.integer(), (seed) => disagreement(protocol, corpus, seed) === undefined),
      { numRuns: mutationsPerProtocol },
    );
    expect(found.numRuns).toBeGreaterThan(0);
    const [mutation = 0] = found.counterexample ?? [];
    // Says the line itself, besides what makes fast-check try it first again.
    const again = `fast-check seed ${found.seed}, path ${found.counterexamplePath}`;
    expect(found.failed ? [again, disagreement(protocol, corpus, mutation)] : []).toEqual([]);
  });

  test(`${protocol.name}: mutations reach every verdict`, () => {
    const corpus = corpusOf(protocol);
    const counts = { line: 0, schema: 0, rule: 0, ok: 0 };
    for (let seed = 1; seed <= 5000; seed++) {
      const { judged } = mutantOf(protocol, corpus, seed);
      counts[judged.ok ? "ok" : judged.by] += 1;
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(5);
  });
}

test("a seed gives the same mutant again", () => {
  const [protocol] = protocols;
  if (protocol === undefined) throw new Error("there is no protocol");
  const corpus = corpusOf(protocol);
  expect(mutantOf(protocol, corpus, 77)).toEqual(mutantOf(protocol, corpus, 77));
  expect(mutantOf(protocol, corpus, 77).bytes).not.toEqual(mutantOf(protocol, corpus, 78).bytes);
});
