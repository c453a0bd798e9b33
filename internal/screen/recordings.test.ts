// Recorded programs: wherever a joiner comes in, its terminal is like one that saw it all.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { faultsOfSnapshot, type Recording, type Resize } from "../../testdata/terminal/replay.ts";

const folder = join(import.meta.dirname, "../../testdata/terminal");
const table: Record<string, { cols: number; rows: number; resizes: Resize[] }> = JSON.parse(
  readFileSync(join(folder, "recordings.json"), "utf8"),
);

/** Cuts a recording; the long form makes a hundred times as many. */
const cuts = process.env["CTX_LONG"] === "1" ? 300 : 3;

/** Cuts spread over the recording at a stride that is no multiple of what programs repeat. */
function cutsOf({ bytes }: Recording): number[] {
  const spread = Array.from({ length: cuts }, (_, i) =>
    Math.floor((bytes.length * (i + 0.37)) / cuts),
  );
  return [...new Set([...spread, ...awkward(bytes), bytes.length])];
}

/** In the middle of a character of several bytes and of a sequence. */
function awkward(bytes: Uint8Array): number[] {
  const middle = Math.floor(bytes.length / 2);
  const character = bytes.findIndex((byte, at) => at > middle / 2 && byte >= 0xe0);
  const sequence = bytes.indexOf(0x1b, middle);
  return [character + 1, character + 2, sequence + 1, sequence + 3].filter(
    (at) => at > 2 && at < bytes.length,
  );
}

test("there are at least twelve recorded programs", () => {
  expect(Object.keys(table).length).toBeGreaterThanOrEqual(12);
});

for (const [name, { cols, rows, resizes }] of Object.entries(table)) {
  test(`a joiner of ${name} sees it as it is, and goes on with it`, async () => {
    const recording = { cols, rows, resizes, bytes: readFileSync(join(folder, `${name}.vt`)) };
    expect(recording.bytes.length).toBeGreaterThan(100);
    for (const cut of cutsOf(recording)) {
      expect({ cut, faults: await faultsOfSnapshot(recording, cut) }).toEqual({ cut, faults: [] });
    }
  }, 120_000);
}
