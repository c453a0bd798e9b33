import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { readBatchBytes, recordBytesMax } from "./bounds.ts";
import { fileCalls } from "./durable-file.ts";
import { accepted, call, open, type Place, place, run, said, watchedCalls } from "./fixture.ts";
import { startCursor } from "./records.ts";

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

describe("the lock", () => {
  test("keeps a second writer out and names the holder", async () => {
    const { log } = await open(at);
    await expect(open(at)).rejects.toMatchObject({
      code: "session_locked",
      message: `session "default" of agent "coder" is held by pid ${process.pid}`,
    });
    await log.close();
    const again = await open(at);
    await again.log.close();
    expect(readdirSync(join(at.folder, "run/lock"))).toEqual([]);
  });

  for (const how of ["removed", "replaced"] as const) {
    test(`is lost when its file is ${how}: the log stops`, async () => {
      const { log, failures } = await open(at);
      const [name = ""] = readdirSync(join(at.folder, "run/lock"));
      const file = join(at.folder, "run/lock", name);
      unlinkSync(file);
      if (how === "replaced") writeFileSync(file, "");
      const append = log.appendDurable({ entries: [call] });
      await expect(append).rejects.toMatchObject({ code: "session_locked" });
      expect(failures).toEqual(["session_locked"]);
      expect(eventsOnDisk()).toEqual([]);
      await log.close();
      expect(existsSync(file)).toBe(how === "replaced");
    });
  }

  test("is not all: bytes of a foreign writer end the log", async () => {
    const { log } = await open(at);
    appendFileSync(join(at.session, "events.jsonl"), "{}\n");
    const append = log.appendDurable({ entries: [call] });
    await expect(append).rejects.toMatchObject({ code: "EIO" });
    await log.close();
  });
});

describe("open", () => {
  async function written(count = 3): Promise<void> {
    const { log } = await open(at);
    for (let index = 1; index <= count; index++) {
      await log.appendDurable({ entries: accepted(`r-${index}`) });
    }
    await log.close();
  }

  const bad: readonly [string, string, (text: string) => string, number, string][] = [
    ["an incomplete last line", "events.jsonl", (text) => text.slice(0, -5), 6, "incomplete"],
    ["broken JSON", "events.jsonl", (text) => text.replace('{"seq":2', '{"seq"2'), 2, "not JSON"],
    ["invalid UTF-8", "messages.jsonl", (text) => text.replace("r-2", "\u{fffd}"), 2, "not JSON"],
    ["a hole", "events.jsonl", (text) => without(text, 2), 3, "seq is 4 where 3 must follow"],
    ["a duplicate", "events.jsonl", (text) => twice(text, 1), 3, "seq is 2 where 3 must follow"],
    ["a newer format", "events.jsonl", (text) => newer(text), 1, "newer than this program"],
    ["a torn message line", "messages.jsonl", (text) => text.slice(0, -1), 3, "incomplete"],
    ["an event without its line", "messages.jsonl", (text) => without(text, 1), 4, "no line"],
    ["a number", "events.jsonl", (text) => `7\n${text}`, 1, "not a JSON object"],
  ];
  const without = (text: string, line: number) =>
    text
      .split("\n")
      .filter((_, index) => index !== line)
      .join("\n");
  const twice = (text: string, line: number) =>
    text
      .split("\n")
      .flatMap((one, index) => (index === line ? [one, one] : [one]))
      .join("\n");
  const newer = (text: string) => text.replace('{"seq":1', '{"format":2,"seq":1');

  for (const [what, file, change, line, reason] of bad) {
    test(`refuses ${what}, naming file, byte and line, and changes nothing`, async () => {
      await written();
      const path = join(at.session, file);
      const text = change(readFileSync(path, "utf8"));
      const bytes = Buffer.from(text);
      const broken = bytes.indexOf("\u{fffd}");
      if (broken >= 0) bytes[broken] = 0xff;
      writeFileSync(path, bytes);
      const opened = open(at).then(
        () => undefined,
        (error) => error,
      );
      const error = await opened;
      expect(error.code).toBe("EIO");
      expect(error.message).toContain(reason);
      expect(error.message).toMatch(/damaged at byte \d+, line \d+: /);
      expect(error.place.line).toBe(line);
      expect(readFileSync(path)).toEqual(bytes);
      // The lock is given back with the failure.
      expect(readdirSync(join(at.folder, "run/lock"))).toEqual([]);
    });
  }

  test("finishes message lines whose events a crash kept back", async () => {
    await written(3);
    const path = join(at.session, "events.jsonl");
    const whole = readFileSync(path, "utf8");
    const lines = whole.split("\n");
    writeFileSync(path, `${lines.slice(0, 2).join("\n")}\n`);
    const { log, visited } = await open(at);
    expect(log.head).toBe(6);
    expect(visited.map((one) => one.event.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(visited[4]?.event.request).toBe("r-3");
    expect(readFileSync(path, "utf8")).toBe(whole);
    expect(log.read(log.locate(3)).records.map((one) => one.message?.id)).toEqual([
      "msg-4",
      undefined,
      "msg-6",
    ]);
    expect((await log.appendDurable({ entries: [call] }))[0]?.seq).toBe(7);
    await log.close();
  });

  test("refuses a left-over message line that cannot follow the last event", async () => {
    await written(2);
    const path = join(at.session, "events.jsonl");
    const [first = ""] = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, `${first}\n`);
    await expect(open(at)).rejects.toMatchObject({ code: "EIO" });
  });

  test("says ENOENT for a session that is not there and makes nothing", async () => {
    await expect(open(at, { create: false })).rejects.toMatchObject({ code: "ENOENT" });
    expect(existsSync(join(at.root.path, "home"))).toBe(false);
  });

  test("makes private folders and files", async () => {
    const { log } = await open(at);
    const mode = (path: string) => statSync(path).mode & 0o777;
    expect(mode(at.session)).toBe(0o700);
    expect(mode(join(at.root.path, "home"))).toBe(0o700);
    expect(mode(join(at.session, "events.jsonl"))).toBe(0o600);
    expect(mode(join(at.session, "messages.jsonl"))).toBe(0o600);
    await log.close();
  });

  test("gives what it makes to the owner when it may", async () => {
    if (process.getuid?.() !== 0) {
      console.log("SKIP owner of new files: only root can give files away");
      return;
    }
    const { log } = await open(at, { owner: { uid: 1234, gid: 2345 } });
    for (const path of ["", "events.jsonl", "messages.jsonl"]) {
      const facts = statSync(join(at.session, path));
      expect([facts.uid, facts.gid]).toEqual([1234, 2345]);
    }
    await log.close();
  });

  test("follows no symlink, neither as a folder nor as the file", async () => {
    const elsewhere = join(at.folder, "elsewhere");
    mkdirSync(elsewhere);
    mkdirSync(dirname(at.session), { recursive: true });
    symlinkSync(elsewhere, at.session);
    await expect(open(at)).rejects.toMatchObject({ code: "EACCES" });
    unlinkSync(at.session);
    mkdirSync(at.session);
    symlinkSync(join(elsewhere, "x"), join(at.session, "events.jsonl"));
    await expect(open(at)).rejects.toMatchObject({ code: "EACCES" });
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});

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
    log.derive({ state: "active\n" });
    log.derive({ state: "done\n", "latest.md": "hi\n" });
    await log.close();
    expect(readFileSync(join(at.session, "state"), "utf8")).toBe("done\n");
    expect(readFileSync(join(at.session, "latest.md"), "utf8")).toBe("hi\n");
    expect(readdirSync(at.session).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
