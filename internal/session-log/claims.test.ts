import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Claims, openClaims } from "./claims.ts";
import { fileCalls } from "./durable-file.ts";
import { owner, type Place, place, watchedCalls } from "./fixture.ts";

const folder = "home/1000/agent/coder/session/index";
let at: Place;
beforeEach(() => {
  at = place();
});
afterEach(() => at.close());

function open(extra: object = {}): Promise<Claims> {
  const { root, locks } = at;
  return openClaims({ root, folder, owner, locks, agent: "coder", ...extra });
}

const file = () => join(at.root.path, folder, "claims.jsonl");

test("a claim is durable before it resolves, and one sync serves all that wait", async () => {
  const calls = watchedCalls();
  const claims = await open({ calls });
  const before = calls.syncs;
  const ids = Array.from({ length: 50 }, (_, index) => `r-${index}`);
  await Promise.all(ids.map((id) => claims.take(id, "private/default", "d", true)));
  expect(calls.syncs - before).toBe(1);
  expect(readFileSync(file(), "utf8").split("\n").length).toBe(51);
  await claims.close();
  const again = await open();
  expect(again.find("r-7")).toEqual({ key: "private/default", digest: "d", proven: false });
  await again.close();
});

test("the newest ids are kept across rotations, the oldest are forgotten", async () => {
  const claims = await open({ max: 10 });
  for (let index = 0; index < 35; index++) {
    await claims.take(`r-${index}`, "private/default", "d", true);
  }
  const known = (one: Claims) =>
    Array.from({ length: 35 }, (_, index) => index).filter((index) => one.find(`r-${index}`));
  const newest = [25, 26, 27, 28, 29, 30, 31, 32, 33, 34];
  expect(known(claims)).toEqual(newest);
  await claims.close();
  const again = await open({ max: 10 });
  expect(known(again)).toEqual(newest);
  await again.close();
});

test("a cut last line is no claim; a broken line in between is an error that names it", async () => {
  const claims = await open();
  await claims.take("a", "private/default", "d", true);
  await claims.close();
  appendFileSync(file(), '{"id":"b","key":');
  const again = await open();
  expect(again.find("a")).toBeDefined();
  await again.take("c", "private/default", "d", true);
  await again.close();
  const text = readFileSync(file(), "utf8");
  expect(text.split("\n").length).toBe(3);
  writeFileSync(file(), `nonsense\n${text}`);
  await expect(open()).rejects.toMatchObject({
    code: "EIO",
    message: expect.stringContaining('claims.jsonl" is damaged at byte 0, line 1'),
  });
});

test("a second process is kept out", async () => {
  const claims = await open();
  await expect(open()).rejects.toMatchObject({ code: "session_locked" });
  await claims.close();
  await (await open()).close();
});

test("a full disk fails the claim and leaves the file whole", async () => {
  let full = false;
  const calls = watchedCalls({
    write(fd, bytes, offset) {
      if (!full) return fileCalls.write(fd, bytes, offset);
      if (offset > 0) throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
      return fileCalls.write(fd, bytes.subarray(0, 5), 0);
    },
  });
  const claims = await open({ calls });
  await claims.take("a", "private/default", "d", true);
  full = true;
  const refused = claims.take("b", "private/default", "d", true);
  await expect(refused).rejects.toMatchObject({ code: "ENOSPC" });
  full = false;
  await claims.take("c", "private/default", "d", true);
  await claims.close();
  const ids = readFileSync(file(), "utf8").match(/"id":"."/g);
  expect(ids).toEqual(['"id":"a"', '"id":"c"']);
});
