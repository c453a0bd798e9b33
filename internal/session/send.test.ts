import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inputBytesMax, sessionQueueLengthMax } from "../abi/mod.ts";
import { collect, oneCall, type Place, Puppet, place, send, service, types } from "./fixture.ts";
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

function serve(
  ...rest: Parameters<typeof service> extends [Place, ...infer R] ? R : never
): Sessions {
  const sessions = service(at, ...rest);
  open.push(sessions);
  return sessions;
}

describe("send", () => {
  test("tells the run from start to done, deltas between the records they came between", async () => {
    const sessions = serve(oneCall);
    const frames = await collect(await sessions.send("coder", send("a")));
    expect(types(frames)).toEqual([
      "start",
      "message",
      "tool_call",
      "tool_result",
      "usage",
      "delta",
      "delta",
      "message",
      "done",
    ]);
    const { run } = frames[0] as { run: string };
    expect(run).toMatch(/^ctx-[0-9a-f]{32}$/);
    expect(frames[0]).toEqual({ type: "start", id: "a", seq: 2, run, model: "debug/echo" });
    expect(frames[2]).toMatchObject({ id: "call-5", seq: 5, name: "fs.read", args: { path: "a" } });
    expect(frames[3]).toMatchObject({ id: "call-5", seq: 6, content: "content", truncated: false });
    expect(frames[5]).toEqual({ type: "delta", id: "evt-7", run, text: "ans" });
    expect(frames[8]).toEqual({ type: "done", id: "evt-9", seq: 9, run, status: "ok" });
    expect(at.events().map((one) => one["type"])).toEqual([
      "session.open",
      "request.accepted",
      "message",
      "run.start",
      "tool.call",
      "tool.result",
      "usage",
      "message",
      "run.done",
    ]);
  });

  test("replays the same id: while it runs, afterwards and after a restart, and runs once", async () => {
    let runs = 0;
    const puppet = new Puppet();
    const sessions = serve((context) => {
      runs += 1;
      return puppet.executor(context);
    });
    const begun = puppet.next();
    const first = await sessions.send("coder", send("a"));
    const context = await begun;
    const second = await sessions.send("coder", send("a"));
    await context.message("answer");
    puppet.finish(context.run);
    const frames = await collect(first);
    expect(types(frames)).toEqual(["start", "message", "message", "done"]);
    expect(await collect(second)).toEqual(frames);
    expect(await collect(await sessions.send("coder", send("a")))).toEqual(frames);
    const before = at.events();
    await sessions.close();
    const again = serve(oneCall);
    expect(await collect(await again.send("coder", send("a")))).toEqual(frames);
    expect(at.events()).toEqual(before);
    expect(runs).toBe(1);
  });

  test("refuses the same id with another input, folder, workspace or session", async () => {
    const sessions = serve(oneCall);
    await collect(await sessions.send("coder", send("a")));
    const others = [
      { input: "other" },
      { cwd: "/workspace/x" },
      { workspace: "/tmp" },
      { session: "other" },
      { scope: { kind: "temp" as const } },
    ];
    for (const other of others) {
      const again = sessions.send("coder", send("a", other));
      await expect(again).rejects.toMatchObject({ code: "request_conflict" });
    }
    expect(existsSync(at.sessionFolder("other"))).toBe(false);
    await sessions.close();
    const reopened = serve(oneCall);
    const elsewhere = reopened.send("coder", send("a", { session: "other" }));
    await expect(elsewhere).rejects.toMatchObject({ code: "request_conflict" });
  });

  test("takes an id whose claim was left without an acceptance", async () => {
    const index = join(at.sessionFolder(), "../index");
    mkdirSync(index, { recursive: true });
    const void_ = { id: "a", key: "private/elsewhere", digest: "d" };
    writeFileSync(join(index, "claims.jsonl"), `${JSON.stringify(void_)}\n{"id":"torn`);
    const sessions = serve(oneCall);
    expect(types(await collect(await sessions.send("coder", send("a")))).at(-1)).toBe("done");
  });

  test("waits in the queue, says so, and answers busy without claiming when it is full", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const begun = puppet.next();
    const first = await sessions.send("coder", send("r-0"));
    const context = await begun;
    const waiting = [];
    for (let index = 1; index <= sessionQueueLengthMax; index++) {
      waiting.push(await sessions.send("coder", send(`r-${index}`)));
    }
    expect(sessions.counts()).toEqual({ open: 1, running: 1, queued: sessionQueueLengthMax });
    const before = at.events().length;
    await expect(sessions.send("coder", send("late"))).rejects.toMatchObject({ code: "busy" });
    expect(at.events().length).toBe(before);
    let next = puppet.next();
    puppet.finish(context.run);
    await collect(first);
    for (const stream of waiting) {
      const running = await next;
      next = puppet.next();
      puppet.finish(running.run);
      const frames = await collect(stream);
      expect(frames[0]).toMatchObject({ type: "start", queued: true, run: running.run });
      expect(frames.at(-1)).toMatchObject({ type: "done", status: "ok" });
    }
    const order = puppet.runs.map((one) => one.input);
    expect(order).toEqual(Array.from({ length: 17 }, (_, index) => `input of r-${index}`));
    const late = await sessions.send("coder", send("late", { input: "another payload is fine" }));
    puppet.finish((await next).run);
    expect(types(await collect(late)).at(-1)).toBe("done");
  });

  test("refuses names, ids and inputs past their bounds and writes nothing", async () => {
    const sessions = serve(oneCall);
    const bad: [Parameters<typeof send>, string][] = [
      [["", {}], "EINVAL"],
      [["x".repeat(257), {}], "EINVAL"],
      [["nul\0", {}], "EINVAL"],
      [["a", { session: "index" }], "EINVAL"],
      [["a", { session: "../x" }], "EINVAL"],
      [["a", { scope: { kind: "shared", space: ".." } }], "EINVAL"],
      [["a", { scope: { kind: "shared", space: "nowhere" } }], "ENOENT"],
      [["a", { input: "é".repeat(inputBytesMax / 2 + 1) }], "EMSGSIZE"],
    ];
    for (const [request, code] of bad) {
      await expect(sessions.send("coder", send(...request))).rejects.toMatchObject({ code });
    }
    expect(existsSync(at.sessionFolder())).toBe(false);
    expect(existsSync(join(at.source, "shared"))).toBe(false);
  });

  test("turns what an executor throws into an error and a done", async () => {
    const sessions = serve(async (context) => {
      await context.toolCall("fs.read", {});
      throw Object.assign(new Error("boom"), { code: "EACCES" });
    });
    const frames = await collect(await sessions.send("coder", send("a")));
    expect(types(frames)).toEqual([
      "start",
      "message",
      "tool_call",
      "tool_result",
      "error",
      "done",
    ]);
    expect(frames[3]).toMatchObject({ status: "error", code: "EIO" });
    expect(frames[4]).toMatchObject({ code: "EACCES", message: "boom" });
    expect(frames[5]).toMatchObject({ status: "error", code: "EACCES" });
    expect(readFileSync(join(at.sessionFolder(), "events.jsonl"), "utf8")).not.toContain("at ");
  });

  test("keeps shared sessions below their space and apart from the private ones", async () => {
    mkdirSync(join(at.source, "shared/space"), { recursive: true });
    const sessions = serve(oneCall);
    const scope = { kind: "shared" as const, space: "space" };
    await collect(await sessions.send("coder", send("a", { scope })));
    const folder = join(at.source, "shared/space/agent/coder/session/default");
    expect(readdirSync(folder)).toContain("events.jsonl");
    expect(existsSync(at.sessionFolder())).toBe(false);
  });
});
