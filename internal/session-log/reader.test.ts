import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readBatchBytes } from "./bounds.ts";
import { call, open, type Place, place, said } from "./fixture.ts";
import { startCursor } from "./records.ts";

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.close());

describe("read", () => {
  test("streams any tail in bounded batches, joined with the messages", async () => {
    const { log } = await open(at);
    for (let index = 0; index < 300; index++) {
      await log.appendDurable({ entries: [call, said(`text ${index} ${"y".repeat(500)}`)] });
    }
    for (const after of [0, 1, 127, 128, 129, 400, 599, 600]) {
      let cursor = log.locate(after);
      expect(cursor.seq).toBe(after);
      const seen: number[] = [];
      for (;;) {
        const next = log.read(cursor);
        if (next.records.length === 0) break;
        expect(next.cursor.events - cursor.events).toBeLessThan(2 * readBatchBytes);
        cursor = next.cursor;
        for (const { event, message } of next.records) {
          seen.push(event.seq);
          expect(message?.seq).toBe(event.type === "message" ? event.seq : undefined);
        }
      }
      expect(seen).toEqual(Array.from({ length: 600 - after }, (_, index) => after + 1 + index));
    }
    expect(log.locate(0)).toEqual(startCursor);
    await log.close();
  });

  test("gives a record longer than a batch on its own", async () => {
    const { log } = await open(at);
    await log.appendDurable({ entries: [said("z".repeat(1024 * 1024)), call] });
    const first = log.read(startCursor);
    expect(first.records.length).toBe(1);
    expect(log.read(first.cursor).records.map((one) => one.event.seq)).toEqual([2]);
    await log.close();
  });
});

describe("chunks and derived files", () => {
  test("keep whole output once, by its hash", async () => {
    const { log } = await open(at);
    const bytes = new TextEncoder().encode("output ".repeat(10_000));
    const ref = await log.keepChunk(bytes);
    expect(await log.keepChunk(bytes)).toEqual(ref);
    const folder = join(at.session, "context/swap/chunk");
    expect(readdirSync(folder)).toEqual([`sha256-${ref.sha256}`]);
    expect(readFileSync(join(folder, `sha256-${ref.sha256}`))).toEqual(Buffer.from(bytes));
    await log.close();
  });

  test("are written by the time the log is closed, the newest content only", async () => {
    const { log } = await open(at);
    log.derive({ state: "active\n" }, 60_000);
    log.derive({ state: "done\n", "latest.md": "hi\n" }, 0);
    await log.close();
    expect(readFileSync(join(at.session, "state"), "utf8")).toBe("done\n");
    expect(readFileSync(join(at.session, "latest.md"), "utf8")).toBe("hi\n");
    expect(readdirSync(at.session).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
