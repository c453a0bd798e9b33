// What a frame of interaction v2 costs to decode, validation and all, against JSON.parse of the same
// line. The two sides take turns in short batches and the fastest batch of each counts: whatever else
// the machine does can only make a batch slower.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeV2Line } from "../internal/wire/mod.ts";
import { dist } from "../testdata/e2e/world.ts";
import type { Result } from "./measure.ts";

/** Enough for the compiler of a busy machine to have come to both sides. */
const rounds = 2000;
const framesPerBatch = 1000;
const limit = 2;

/** The 17-field hello of the protocol's own document. */
const golden = "abi/interaction/v2/accept/hello.json";

export function decodeRatio(): Result {
  const line = readFileSync(join(dist, "..", golden), "utf8").trimEnd();
  if (!decodeV2Line(line).ok) throw new Error(`${golden} is refused`);
  let parsed = Number.POSITIVE_INFINITY;
  let decoded = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    parsed = Math.min(
      parsed,
      batch(() => JSON.parse(line)),
    );
    decoded = Math.min(
      decoded,
      batch(() => decodeV2Line(line)),
    );
  }
  if (kept === undefined) throw new Error("nothing was decoded");
  return {
    name: "decode a 17-field v2 frame / JSON.parse",
    value: decoded / parsed,
    limit,
    unit: "times",
    detail: `${decoded.toFixed(0)} ns against ${parsed.toFixed(0)} ns`,
  };
}

/** Nanoseconds a call. */
function batch(action: () => unknown): number {
  const begun = performance.now();
  for (let count = 0; count < framesPerBatch; count++) kept = action();
  return ((performance.now() - begun) * 1e6) / framesPerBatch;
}

/** What came out last: a result that nobody could see might not be made at all. */
let kept: unknown;
