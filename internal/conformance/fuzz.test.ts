// Mutated lines through every decoder: no crash, no memory that stays, and no line accepted that the
// schema refuses. A million lines a protocol with CTX_LONG=1. The first seed comes from fast-check,
// or from CTX_FUZZ_SEED to see a failure again.

import { expect, setDefaultTimeout, test } from "bun:test";
import fc from "fast-check";
import { corpusOf, disagreement, mutantOf } from "./corpus.ts";
import { protocols } from "./registry.ts";

setDefaultTimeout(3_600_000);

const lines = process.env["CTX_LONG"] === "1" ? 1_000_000 : 3_000;

/** What may stay in memory after all of it; a leak of 100 bytes a line would be 100 MB. */
const residentGrowthBytesMax = 96 * 1024 * 1024;

/** Disagreements that are printed; more of them say the same. */
const shownMax = 5;

const first = Number(
  process.env["CTX_FUZZ_SEED"] ?? fc.sample(fc.noBias(fc.integer({ min: 1, max: 2 ** 30 })), 1)[0],
);

function resident(): number {
  Bun.gc(true);
  return process.memoryUsage().rss;
}

for (const protocol of protocols) {
  test(`${protocol.name}: ${lines} mutated lines from seed ${first}`, () => {
    const corpus = corpusOf(protocol);
    expect(corpus.length).toBeGreaterThan(20);
    const wrong: string[] = [];
    let accepted = 0;
    // The first tenth warms up compilers and caches.
    let before = 0;
    for (let index = 0; index < lines && wrong.length < shownMax; index++) {
      if (index === lines / 10) before = resident();
      try {
        const said = disagreement(protocol, corpus, first + index);
        if (said !== undefined) wrong.push(said);
      } catch (error) {
        wrong.push(`seed ${first + index}: thrown ${error}`);
      }
    }
    for (let index = 0; index < 1000; index++) {
      if (mutantOf(protocol, corpus, first + index).judged.ok) accepted += 1;
    }
    expect(wrong).toEqual([]);
    // A fuzzer whose lines are all refused at the door tries nothing.
    expect(accepted).toBeGreaterThan(20);
    expect(resident() - before).toBeLessThan(residentGrowthBytesMax);
  });
}
