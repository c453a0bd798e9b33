// Sessions whose files are taken away under a running service: nothing is acknowledged that is not
// in a file with its name, and an idle session that was removed can be begun anew at once.

import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  collect,
  oneCall,
  type Place,
  Puppet,
  place,
  resume,
  send,
  service,
  status,
  types,
} from "./fixture.ts";
import type { Sessions } from "./sessions.ts";

let at: Place;
let open: Sessions[];
beforeEach(() => {
  at = place();
  open = [];
});
afterEach(async () => {
  for (const one of open) await one.close();
  at.remove();
});

function serve(...rest: Parameters<typeof service> extends [Place, ...infer R] ? R : never) {
  const sessions = service(at, ...rest);
  open.push(sessions);
  return sessions;
}

test("a removed session that nobody uses is begun anew by the next input", async () => {
  const sessions = serve(oneCall);
  await collect(await sessions.send("coder", send("a")));
  rmSync(at.sessionFolder(), { recursive: true });
  await expect(sessions.status("coder", status())).rejects.toMatchObject({ code: "ENOENT" });
  expect(existsSync(at.sessionFolder())).toBe(false);
  const frames = await collect(await sessions.send("coder", send("b")));
  expect(frames.at(-1)).toMatchObject({ type: "done", status: "ok" });
  expect(at.events()[0]).toMatchObject({ seq: 1, type: "session.open" });
  expect(frames.at(-1)).toMatchObject({ seq: at.events().length });
});

test("a log that was put back from a copy is the one that goes on", async () => {
  const sessions = serve(oneCall);
  await collect(await sessions.send("coder", send("a")));
  const file = join(at.sessionFolder(), "events.jsonl");
  copyFileSync(file, `${file}.copy`);
  renameSync(`${file}.copy`, file);
  const before = at.events().length;
  await collect(await sessions.send("coder", send("b")));
  expect(at.events().length).toBeGreaterThan(before);
  expect(types(await collect(await sessions.send("coder", send("a")))).at(-1)).toBe("done");
});

test("a session that is removed while it runs acknowledges nothing more", async () => {
  const puppet = new Puppet();
  const sessions = serve(puppet.executor);
  const begun = puppet.next();
  const stream = await sessions.send("coder", send("a"));
  const context = await begun;
  context.signal.addEventListener("abort", () => puppet.finish(context.run));
  rmSync(at.sessionFolder(), { recursive: true });
  await expect(context.message("x")).rejects.toMatchObject({ code: "session_locked" });
  expect((await collect(stream)).at(-1)).toMatchObject({ type: "error", code: "session_locked" });
  expect(existsSync(at.sessionFolder())).toBe(false);
});

test("claims that were removed are begun anew, and ids that a log holds are still its own", async () => {
  const sessions = serve(oneCall);
  await collect(await sessions.send("coder", send("a")));
  rmSync(join(dirname(at.sessionFolder()), "index"), { recursive: true });
  const frames = await collect(await sessions.send("coder", send("b")));
  expect(frames.at(-1)).toMatchObject({ type: "done", status: "ok" });
  const before = at.events().length;
  await collect(await sessions.send("coder", send("a")));
  expect(at.events().length).toBe(before);
  const claims = readFileSync(join(dirname(at.sessionFolder()), "index/claims.jsonl"), "utf8");
  expect(claims).toContain('"b"');
});

for (const [gone, other] of [
  ["events.jsonl", "messages.jsonl"],
  ["messages.jsonl", "events.jsonl"],
] as const) {
  test(`a session without its ${gone} is refused, marked, and not given an empty one`, async () => {
    const sessions = serve(oneCall, { idleMs: 1 });
    await collect(await sessions.send("coder", send("a")));
    while (sessions.counts().open > 0) await Bun.sleep(1);
    unlinkSync(join(at.sessionFolder(), gone));
    const refused = { code: "EIO", message: expect.stringContaining(`${gone}" is missing`) };
    await expect(sessions.send("coder", send("b"))).rejects.toMatchObject(refused);
    await expect(sessions.resume("coder", resume())).rejects.toMatchObject(refused);
    expect(existsSync(join(at.sessionFolder(), gone))).toBe(false);
    expect(existsSync(join(at.sessionFolder(), other))).toBe(true);
    expect(readFileSync(join(at.sessionFolder(), "state"), "utf8")).toBe("error\n");
  });
}

test("two services with two runtime folders never write the same session", async () => {
  const sessions = serve(oneCall);
  await collect(await sessions.send("coder", send("a")));
  const runtime = join(at.folder, "run2");
  mkdirSync(runtime, { mode: 0o700 });
  const other = serve(oneCall, { runtime });
  const refused = { code: "session_locked" };
  await expect(other.send("coder", send("b"))).rejects.toMatchObject(refused);
  await expect(other.resume("coder", resume())).rejects.toMatchObject(refused);
  await sessions.close();
  expect(types(await collect(await other.send("coder", send("b")))).at(-1)).toBe("done");
});

test("a record whose fields are of other types is damage, named by its place", async () => {
  const sessions = serve(oneCall, { idleMs: 1 });
  await collect(await sessions.send("coder", send("a")));
  while (sessions.counts().open > 0) await Bun.sleep(1);
  const file = join(at.sessionFolder(), "events.jsonl");
  const text = readFileSync(file, "utf8");
  const lines = text.split("\n").length;
  writeFileSync(file, `${text}{"seq":${lines},"ts":"x","type":"tool.call","run":5,"object":{}}\n`);
  const refused = { code: "EIO", message: expect.stringContaining(`line ${lines}: `) };
  await expect(sessions.send("coder", send("b"))).rejects.toMatchObject(refused);
  await expect(sessions.resume("coder", resume())).rejects.toMatchObject(refused);
});
