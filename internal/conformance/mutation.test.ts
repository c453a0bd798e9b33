// Ten thousand random mutations of goldens a protocol get the same verdict from the judge in the code
// and from the schema in `abi/`.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { corpusOf, disagreement, mutantOf } from "./corpus.ts";
import { protocols } from "./registry.ts";

const mutationsPerProtocol = 10_000;

for (const protocol of protocols) {
  test(`${protocol.name}: the judge and the schema agree on mutated goldens`, () => {
    const corpus = corpusOf(protocol);
    expect(corpus.length).toBeGreaterThan(20);
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        expect(disagreement(protocol, corpus, seed)).toBeUndefined();
      }),
      { numRuns: mutationsPerProtocol },
    );
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
