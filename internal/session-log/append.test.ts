import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { recordBytesMax } from "./bounds.ts";
import { fileCalls } from "./durable-file.ts";
import { accepted, call, open, type Place, place, run, said, watchedCalls } from "./fixture.ts";

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.close());

function eventsOnDisk(): Record<string, unknown>[] {
  return jsonLines("events.jsonl");
}

function jsonLines(name: string): Record<string, unknown>[] {
  const text = readFileSync(join(at.session, name), "utf8");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });

describe("append", () => {
  test("numbers records from 1 by one and names calls and messages by them", async () => {
    const { log, published } = await open(at);
    const first = await log.appendDurable({ entries: accepted("r-1") });
    const second = await log.appendDurable({ entries: [call, said("hello")] });
    expect([...first, ...second].map((one) => one.seq)).toEqual([1, 2, 3, 4]);
    expect(eventsOnDisk()[2]).toEqual({
      seq: 3,
      ts: "2026-06-22T12:00:00.123Z",
      type: "tool.call",
      agent: "coder",
      session: "default",
      run,
      object: "tool/fs.read",
      call: "call-3",
    });
    expect(jsonLines("messages.jsonl")[1]).toEqual({
      id: "msg-4",
      seq: 4,
      ts: "2026-06-22T12:00:00.123Z",
      run,
      role: "assistant",
      content: [{ type: "text", text: "hello" }],
      before: [{ type: "tool.call", run, object: "tool/fs.read" }],
    });
    expect(published.map((one) => one.event.seq)).toEqual([1, 2, 3, 4]);
    await log.close();
  });

  test("makes message lines durable before it writes the events that name them", async () => {
    const order: string[] = [];
    const names = new Map<number, string>();
    const calls = watchedCalls({
      write: (fd, bytes, offset) => {
        const text = new TextDecoder().decode(bytes);
        names.set(fd, text.includes('"content"') ? "messages" : "events");
        order.push(`write ${names.get(fd)}`);
        return fileCalls.write(fd, bytes, offset);
      },
      sync: async (fd) => {
        await fileCalls.sync(fd);
        order.push(`sync ${names.get(fd) ?? "nothing"}`);
      },
    });
    const { log } = await open(at, { calls });
    order.length = 0;
    await log.appendDurable({ entries: accepted("r-1") });
    expect(order).toEqual(["write messages", "sync messages", "write events", "sync events"]);
    await log.close();
  });

  test("shares one sync among everything that waits", async () => {
    const calls = watchedCalls();
    const { log } = await open(at, { calls });
    const first = log.appendDurable({ entries: [call] });
    const before = calls.syncs;
    const rest = Array.from({ length: 64 }, () => log.appendDurable({ entries: [call] }));
    const seqs = (await Promise.all([first, ...rest])).flat().map((one) => one.seq);
    expect(seqs).toEqual(Array.from({ length: 65 }, (_, index) => index + 1));
    expect(calls.syncs - before).toBeLessThanOrEqual(2);
    await log.close();
  });

  test("waits for the claim before it writes the events and drops the batch that has none", async () => {
    const { log } = await open(at);
    let claim: (() => void) | undefined;
    const claimed = new Promise<void>((resolve) => {
      claim = resolve;
    });
    const refused = Promise.reject(full);
    const outcomes = [
      log.appendDurable({ entries: accepted("good"), claim: claimed }),
      log.appendDurable({ entries: accepted("bad"), claim: refused }),
      log.appendDurable({ entries: [call] }),
    ];
    expect(eventsOnDisk()).toEqual([]);
    claim?.();
    const settled = await Promise.allSettled(outcomes);
    expect(settled.map((one) => one.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(eventsOnDisk().map((one) => one["request"] ?? one["type"])).toEqual([
      "good",
      "message",
      "tool.call",
    ]);
    expect(jsonLines("messages.jsonl").map((one) => one["id"])).toEqual(["msg-2"]);
    await log.close();
    expect((await open(at)).log.head).toBe(3);
  });

  test("refuses a record past its bound and uses no number for it", async () => {
    const { log } = await open(at);
    const long = log.appendDurable({ entries: [said("x".repeat(recordBytesMax))] });
    const short = log.appendDurable({ entries: [call] });
    await expect(long).rejects.toMatchObject({ code: "EMSGSIZE" });
    expect((await short)[0]?.seq).toBe(1);
    await log.close();
  });
});

describe("a write that fails", () => {
  test("is cut back after a short write and the session goes on", async () => {
    let broken = false;
    const calls = watchedCalls({
      write: (fd, bytes, offset) => {
        if (!broken) return fileCalls.write(fd, bytes, offset);
        if (offset > 0) throw full;
        return fileCalls.write(fd, bytes.subarray(0, 7), 0);
      },
    });
    const { log } = await open(at, { calls });
    await log.appendDurable({ entries: accepted("r-1") });
    const before = readFileSync(join(at.session, "messages.jsonl"));
    broken = true;
    const failed = log.appendDurable({ entries: accepted("r-2") });
    await expect(failed).rejects.toMatchObject({ code: "ENOSPC" });
    expect(readFileSync(join(at.session, "messages.jsonl"))).toEqual(before);
    broken = false;
    expect((await log.appendDurable({ entries: accepted("r-3") }))[0]?.seq).toBe(3);
    await log.close();
    const { visited } = await open(at);
    expect(visited.map((one) => one.event.request ?? "")).toEqual(["r-1", "", "r-3", ""]);
  });

  test("takes back the durable message line when its event cannot be written", async () => {
    let broken = false;
    const calls = watchedCalls({
      write: (fd, bytes, offset) => {
        const event = new TextDecoder().decode(bytes).includes('"agent"');
        if (broken && event) throw full;
        return fileCalls.write(fd, bytes, offset);
      },
    });
    const { log } = await open(at, { calls });
    broken = true;
    const failed = log.appendDurable({ entries: accepted("r-1") });
    await expect(failed).rejects.toMatchObject({ code: "ENOSPC" });
    expect(jsonLines("messages.jsonl")).toEqual([]);
    await log.close();
  });

  test("ends the log when a sync fails: nothing is acknowledged any more", async () => {
    let broken = false;
    const calls = watchedCalls({
      sync: (fd) => (broken ? Promise.reject(new Error("EIO")) : fileCalls.sync(fd)),
    });
    const { log, failures } = await open(at, { calls });
    broken = true;
    const first = log.appendDurable({ entries: [call] });
    const second = log.appendDurable({ entries: accepted("r-1") });
    const settled = await Promise.allSettled([first, second]);
    expect(settled.map((one) => one.status)).toEqual(["rejected", "rejected"]);
    broken = false;
    const third = log.appendDurable({ entries: [call] });
    await expect(third).rejects.toMatchObject({ code: "EIO" });
    expect(failures).toEqual(["EIO"]);
    await log.close();
  });
});
