import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { observationBytesMax } from "../abi/mod.ts";
import type { EventRecord, StoredRecord } from "../session-log/mod.ts";
import { historyBytesMax } from "./bounds.ts";
import { HistoryTail } from "./history.ts";
import { observe } from "./observation.ts";

let seq = 0;

function record(fields: Partial<EventRecord>, text?: string): StoredRecord {
  seq += 1;
  const event = { seq, ts: "", agent: "coder", session: "default", type: "error", ...fields };
  const message =
    text === undefined
      ? undefined
      : {
          id: `msg-${seq}`,
          seq,
          ts: "",
          run: fields.run ?? "",
          role: fields.role ?? ("user" as const),
          content: [{ type: "text" as const, text }],
        };
  return { event: event as EventRecord, message };
}

function turn(history: HistoryTail, run: string, texts: readonly string[], started = true): void {
  history.add(record({ type: "request.accepted", run }));
  history.add(record({ type: "message", run, role: "user" }, `ask ${run}`));
  if (started) history.add(record({ type: "run.start", run }));
  for (const content of texts) {
    history.add(
      record({ type: "tool.call", run, object: "tool/fs.read", call: "call-1", args: {} }),
    );
    history.add(
      record({
        type: "tool.result",
        run,
        object: "tool/fs.read",
        call: "call-1",
        status: "ok",
        content,
      }),
    );
  }
  history.add(record({ type: "run.done", run, status: "ok" }));
}

describe("history", () => {
  test("drops whole turns, oldest first, and never exceeds its bound", () => {
    const history = new HistoryTail();
    for (let index = 0; index < 40; index++) turn(history, `run-${index}`, ["x".repeat(16_000)]);
    const items = history.before("next");
    const runs = [...new Set(items.map((one) => one.run))];
    expect(history.bytes).toBeLessThanOrEqual(historyBytesMax);
    expect(runs.at(-1)).toBe("run-39");
    expect(runs.length).toBeGreaterThan(10);
    for (const run of runs) expect(items.filter((one) => one.run === run).length).toBe(3);
  });

  test("shortens the older texts of a turn that is too large alone, not its newest", () => {
    const history = new HistoryTail();
    turn(
      history,
      "run",
      Array.from({ length: 64 }, () => "x".repeat(16_000)),
    );
    const items = history.before("next");
    expect(history.bytes).toBeLessThanOrEqual(historyBytesMax);
    expect(items.length).toBe(129);
    expect(items.at(-1)).toMatchObject({ content: "x".repeat(16_000) });
    expect(items[2]).toMatchObject({ content: expect.stringMatching(/^x{1024} \[…\]$/) });
  });

  test("leaves out inputs that never ran and runs that are queued behind", () => {
    const history = new HistoryTail();
    turn(history, "first", []);
    turn(history, "never", [], false);
    history.add(record({ type: "request.accepted", run: "now" }));
    turn(history, "later", []);
    expect(history.before("now").map((one) => one.run)).toEqual(["first"]);
  });
});

test("an observation is a prefix of whole characters within its bound", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), fc.nat(80), (text, max) => {
      const { content, truncated, whole } = observe(text, max);
      expect(text.startsWith(content)).toBe(true);
      expect(Buffer.byteLength(content)).toBeLessThanOrEqual(max);
      expect(truncated).toBe(Buffer.byteLength(text) > max);
      expect(whole !== undefined).toBe(truncated);
      if (truncated) expect(max - Buffer.byteLength(content)).toBeLessThan(4);
    }),
  );
  expect(observe("é".repeat(observationBytesMax), observationBytesMax).content.length).toBe(8192);
});
