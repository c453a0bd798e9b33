import { expect, test } from "bun:test";
import { streamPair } from "../os/mod.ts";
import { adoptLines } from "./mod.ts";

const options = { lineBytesMax: 1024 };

test("two ends of a pair speak lines to each other", async () => {
  const [one, two] = streamPair();
  const [mine, theirs] = await Promise.all([adoptLines(one, options), adoptLines(two, options)]);
  void mine.send("asked\n");
  expect(await theirs.next()).toEqual({ ok: true, line: "asked" });
  void theirs.send("answered\n");
  expect(await mine.next()).toEqual({ ok: true, line: "answered" });
  theirs.end();
  expect(await mine.next()).toBeUndefined();
  mine.destroy();
  expect(await mine.closed).toBe("local");
});

test("a line past the bound is the last that is read", async () => {
  const [one, two] = streamPair();
  const [mine, theirs] = await Promise.all([adoptLines(one, options), adoptLines(two, options)]);
  void theirs.send(`${"x".repeat(2000)}\n`);
  expect(await mine.next()).toMatchObject({ ok: false, code: "EMSGSIZE" });
  mine.destroy();
  theirs.destroy();
});
