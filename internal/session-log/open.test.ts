import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { accepted, call, open, type Place, place } from "./fixture.ts";

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.close());

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
    ["a field of another type", "events.jsonl", (text) => other(text), 1, "run is not a string"],
    ["an acceptance without id", "events.jsonl", (text) => bare(text), 1, "has no request"],
    ["a message of no texts", "messages.jsonl", (text) => empty(text), 1, "not a list of texts"],
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
  const other = (text: string) => text.replace(/"run":"[^"]*"/, '"run":5');
  const bare = (text: string) => text.replace('"request":', '"requested":');
  const empty = (text: string) => text.replace('"content":[', '"content":[7,');
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

  test("refuses a folder and a socket at a log file's name alike", async () => {
    const file = join(at.session, "events.jsonl");
    mkdirSync(file, { recursive: true });
    const refused = { code: "EACCES", message: expect.stringContaining("is not a regular file") };
    await expect(open(at)).rejects.toMatchObject(refused);
    rmdirSync(file);
    const server = createServer().listen(file);
    await once(server, "listening");
    await expect(open(at)).rejects.toMatchObject(refused);
    server.close();
  });
});
