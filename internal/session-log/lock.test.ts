import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { call, open, type Place, place } from "./fixture.ts";

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
