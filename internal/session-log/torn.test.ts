import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from "node:fs";
import { join } from "node:path";
import { accepted, open, type Place, place } from "./fixture.ts";

let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.close());

/** Writes two inputs and leaves the lock file as a killed writer does. */
async function killed(): Promise<void> {
  const { log } = await open(at);
  await log.appendDurable({ entries: accepted("r-1") });
  await log.appendDurable({ entries: accepted("r-2") });
  const locks = join(at.folder, "run/lock");
  const [name = ""] = readdirSync(locks);
  const kept = join(at.folder, "kept");
  renameSync(join(locks, name), kept);
  await log.close();
  renameSync(kept, join(locks, name));
}

for (const file of ["events.jsonl", "messages.jsonl"]) {
  test(`half a line after the marked length of ${file} is moved aside and recorded`, async () => {
    await killed();
    const path = join(at.session, file);
    const before = readFileSync(path, "utf8");
    appendFileSync(path, '{"seq":5,"half');
    const { log, published } = await open(at);
    const repair = published.map((one) => one.event).find((one) => one.type === "session.repair");
    expect(repair?.seq).toBe(5);
    expect(repair?.text).toContain(`14 bytes at ${before.length} moved to ${file}.torn-`);
    const [torn = ""] = readdirSync(at.session).filter((name) => name.includes(".torn-"));
    expect(readFileSync(join(at.session, torn), "utf8")).toBe('{"seq":5,"half');
    expect(readFileSync(path, "utf8").startsWith(before)).toBe(true);
    await log.close();
    expect((await open(at)).log.head).toBe(5);
  });

  test(`half a line inside the marked length of ${file} stays an error`, async () => {
    await killed();
    const path = join(at.session, file);
    truncateSync(path, statSync(path).size - 3);
    const before = readFileSync(path);
    await expect(open(at)).rejects.toMatchObject({ code: "EIO" });
    expect(readFileSync(path)).toEqual(before);
  });
}
