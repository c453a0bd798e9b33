import { expect, test } from "bun:test";
import { keptBytesMax, keptMax, pieceUnitsMax } from "../mcp-wire/mod.ts";
import { CollectedResult } from "./collected.ts";

const keep = (index: number, data: string) => ({ kind: "keep", id: 1, index, data }) as const;

test("everything that fits is kept when its pieces are full", () => {
  const collected = new CollectedResult();
  const full = Buffer.alloc((pieceUnitsMax / 4) * 3).toString("base64");
  const half = Buffer.alloc(Math.floor(keptBytesMax / 2 / keptMax));
  const pieces = Math.floor(keptBytesMax / 2 / ((pieceUnitsMax / 4) * 3));
  for (let piece = 0; piece < pieces; piece++) collected.add(keep(0, full));
  for (let index = 1; index < keptMax; index++) {
    collected.add(keep(index, half.toString("base64")));
  }
  expect(collected.kept.map(({ length }) => length)).toEqual([
    pieces * ((pieceUnitsMax / 4) * 3),
    ...Array.from({ length: keptMax - 1 }, () => half.length),
  ]);
});

test("pieces of a byte or none are not kept without a bound", () => {
  const collected = new CollectedResult();
  for (let piece = 0; piece < 10_000; piece++) collected.add(keep(0, "YQ=="));
  const [bytes] = collected.kept;
  expect(bytes?.length).toBeLessThan(1000);
});
