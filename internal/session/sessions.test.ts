import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { inputBytesMax, observationBytesMax, sessionQueueLengthMax } from "../abi/mod.ts";
import type { OpFrame } from "../interaction/mod.ts";
import { liveBytesMax } from "./bounds.ts";
import {
  collect,
  oneCall,
  type Place,
  Puppet,
  place,
  resume,
  send,
  service,
  started,
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

function serve(
  ...rest: Parameters<typeof service> extends [Place, ...infer R] ? R : never
): Sessions {
  const sessions = service(at, ...rest);
  open.push(sessions);
  return sessions;
}

const durable = (frames: readonly OpFrame[]) => frames.filter((one) => "seq" in one);

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

describe("cancel", () => {
  test("ends a running run at once; nothing of it is recorded afterwards", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const begun = puppet.next();
    const stream = await sessions.send("coder", send("a"));
    const context = await begun;
    const call = await context.toolCall("shell.exec", { cmd: "sleep 9" });
    const frames = await sessions.cancel("coder", context.run);
    expect(frames).toMatchObject([{ type: "done", run: context.run, status: "cancelled" }]);
    expect(context.signal.aborted).toBe(true);
    const before = at.events();
    const outcome = { status: "ok" as const, output: "late", dropped: 0 };
    await expect(context.toolResult(call, "shell.exec", outcome)).rejects.toMatchObject({
      code: "ECANCELED",
    });
    await expect(context.message("late")).rejects.toMatchObject({ code: "ECANCELED" });
    context.delta("late");
    expect(types(await collect(stream))).toEqual([
      "start",
      "message",
      "tool_call",
      "tool_result",
      "done",
    ]);
    expect(before.slice(-3).map((one) => one["type"])).toEqual([
      "tool.result",
      "run.cancel",
      "run.done",
    ]);
    // The executor ignores its abort: the next input waits for it, the client of this one does not.
    const next = puppet.next();
    const second = await sessions.send("coder", send("b"));
    expect(sessions.counts()).toEqual({ open: 1, running: 0, queued: 1 });
    expect(puppet.runs.length).toBe(1);
    puppet.finish(context.run);
    puppet.finish((await next).run);
    expect(types(await collect(second))).toEqual(["start", "message", "done"]);
    const again = sessions.cancel("coder", context.run);
    await expect(again).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("ends a waiting input without ever running it", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const begun = puppet.next();
    const first = await sessions.send("coder", send("a"));
    const context = await begun;
    const second = await sessions.send("coder", send("b"));
    const run = await started(second);
    expect(await sessions.cancel("coder", run)).toMatchObject([{ status: "cancelled", run }]);
    second.close();
    puppet.finish(context.run);
    await collect(first);
    expect(puppet.runs.length).toBe(1);
    const replay = await collect(await sessions.send("coder", send("b")));
    expect(replay.at(-1)).toMatchObject({ type: "done", status: "cancelled", run });
  });

  test("says ENOENT for a run that is not there or belongs to another agent", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const begun = puppet.next();
    const stream = await sessions.send("coder", send("a"));
    const { run } = await begun;
    for (const [agent, id] of [
      ["coder", "ctx-nothing"],
      ["reviewer", run],
    ] as const) {
      await expect(sessions.cancel(agent, id)).rejects.toMatchObject({ code: "ENOENT" });
    }
    puppet.finish(run);
    await collect(stream);
  });
});

describe("resume and status", () => {
  test("replay after any cursor and end with the last done", async () => {
    const sessions = serve(oneCall);
    const all = durable(await collect(await sessions.send("coder", send("a"))));
    const replay = async (after?: string) => collect(await sessions.resume("coder", resume(after)));
    expect(await replay()).toEqual(all);
    expect(await replay("0")).toEqual(all);
    expect(await replay("a")).toEqual(all.slice(1));
    expect(await replay("evt-3")).toEqual(all.slice(2));
    expect(await replay("call-5")).toEqual(all.slice(3));
    expect(await replay("6")).toEqual(all.slice(4));
    const { run } = all[0] as { run: string };
    expect(await replay("evt-9")).toEqual([{ type: "done", id: "evt-9", run, status: "ok" }]);
    for (const bad of ["10", "evt-10", "call-99", "nothing", ""]) {
      await expect(replay(bad)).rejects.toMatchObject({ code: "cursor_invalid" });
    }
  });

  test("follow an active run to its done, without a gap", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const begun = puppet.next();
    const sent = await sessions.send("coder", send("a"));
    const context = await begun;
    await context.message("one");
    const followed = await sessions.resume("coder", resume("a"));
    context.phase("model", 2, "debug/echo");
    expect(await sessions.status("coder", status())).toMatchObject({
      type: "status",
      status: "active",
      phase: "model",
      step: 2,
      model: "debug/echo",
      run: context.run,
    });
    await context.message("two");
    puppet.finish(context.run);
    expect(await collect(followed)).toEqual((await collect(sent)).slice(1));
    expect(await sessions.status("coder", status())).toMatchObject({ status: "done", run: null });
  });

  test("say ENOENT for a session that does not exist, and do not make it", async () => {
    const sessions = serve(oneCall);
    await expect(sessions.resume("coder", resume())).rejects.toMatchObject({ code: "ENOENT" });
    await expect(sessions.status("coder", status())).rejects.toMatchObject({ code: "ENOENT" });
    expect(existsSync(at.sessionFolder())).toBe(false);
  });
});

describe("readers", () => {
  test("that leave do not stop a run", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const begun = puppet.next();
    const stream = await sessions.send("coder", send("a"));
    const context = await begun;
    stream.close();
    await context.message("still here");
    puppet.finish(context.run);
    const frames = await collect(await sessions.send("coder", send("a")));
    expect(types(frames)).toEqual(["start", "message", "message", "done"]);
  });

  test("that are slow lose the oldest deltas and no record; a thousand cost no more", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const begun = puppet.next();
    const streams = [await sessions.send("coder", send("a"))];
    const context = await begun;
    for (let index = 0; index < 1000; index++) {
      streams.push(await sessions.resume("coder", resume()));
    }
    const text = "d".repeat(16 * 1024);
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    for (let index = 0; index < 1000; index++) context.delta(`${index} ${text}`);
    for (let index = 0; index < 20; index++) await context.message(`${index} ${text}`);
    Bun.gc(true);
    // A thousand readers times what is told would be 15 GiB.
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
    puppet.finish(context.run);
    const frames = await collect(streams[0] as (typeof streams)[number]);
    const deltas = frames.filter((one) => one.type === "delta");
    expect(deltas.length).toBeGreaterThan(0);
    expect(deltas.length).toBeLessThan(liveBytesMax / text.length);
    expect(deltas.at(-1)).toMatchObject({ text: `999 ${text}` });
    expect(durable(frames).length).toBe(23);
    for (const stream of streams.slice(1)) stream.close();
  });
});

describe("a run's records", () => {
  test("cut the observation on a character and keep the whole output by its hash", async () => {
    const output = "é€😀".repeat(5000);
    let seen: { content: string; truncated: boolean } | undefined;
    const sessions = serve(async (context) => {
      const call = await context.toolCall("shell.exec", {});
      seen = await context.toolResult(call, "shell.exec", { status: "ok", output, dropped: 7 });
      return { status: "ok" };
    });
    const frames = await collect(await sessions.send("coder", send("a")));
    expect(seen?.truncated).toBe(true);
    expect(output.startsWith(seen?.content ?? "no")).toBe(true);
    const bytes = Buffer.byteLength(seen?.content ?? "");
    expect(bytes).toBeLessThanOrEqual(observationBytesMax);
    expect(bytes).toBeGreaterThan(observationBytesMax - 4);
    expect(frames[3]).toMatchObject({ content: seen?.content, truncated: true });
    const result = at.events().find((one) => one["type"] === "tool.result");
    const ref = result?.["content_ref"] as { sha256: string; bytes: number; dropped: number };
    expect(ref).toMatchObject({ bytes: Buffer.byteLength(output), dropped: 7 });
    const chunk = join(at.sessionFolder(), "context/swap/chunk", `sha256-${ref.sha256}`);
    expect(readFileSync(chunk, "utf8")).toBe(output);
  });

  test("leave only digests of arguments when the host says so", async () => {
    const sessions = serve(
      async (context) => {
        await context.toolCall("fs.read", { path: "secret name" });
        return { status: "ok" };
      },
      { record: "digest" },
    );
    const frames = await collect(await sessions.send("coder", send("a")));
    expect(JSON.stringify(at.events())).not.toContain("secret name");
    expect(frames[2]).toMatchObject({
      args: { args_digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  test("answer each call once: a second result and a foreign call are refused", async () => {
    const refused: string[] = [];
    const sessions = serve(async (context) => {
      const outcome = { status: "ok" as const, output: "x", dropped: 0 };
      const call = await context.toolCall("fs.read", {});
      const both = await Promise.allSettled([
        context.toolResult(call, "fs.read", outcome),
        context.toolResult(call, "fs.read", outcome),
        context.toolResult("call-999", "fs.read", outcome),
      ]);
      for (const one of both) if (one.status === "rejected") refused.push(one.reason.code);
      return { status: "ok" };
    });
    await collect(await sessions.send("coder", send("a")));
    expect(refused).toEqual(["EINVAL", "EINVAL"]);
    expect(at.events().filter((one) => one["type"] === "tool.result").length).toBe(1);
  });

  test("are the next run's history, also after a restart, without inputs that never ran", async () => {
    const histories: unknown[] = [];
    const executor: typeof oneCall = async (context) => {
      histories.push(context.history().map((item) => [item.kind, item.run]));
      return oneCall(context);
    };
    const sessions = serve(executor);
    const first = await collect(await sessions.send("coder", send("a")));
    await collect(await sessions.send("coder", send("b")));
    await sessions.close();
    await collect(await serve(executor).send("coder", send("c")));
    const { run } = first[0] as { run: string };
    const turn = ["user", "tool_call", "tool_result", "assistant"];
    expect(histories[0]).toEqual([]);
    expect(histories[1]).toEqual(turn.map((kind) => [kind, run]));
    expect((histories[2] as unknown[]).length).toBe(8);
  });
});

describe("derived files", () => {
  test("show state, latest text, times and the indexes", async () => {
    const sessions = serve(oneCall);
    await collect(await sessions.send("coder", send("a", { workspace: "/srv/project" })));
    await sessions.close();
    const read = (name: string) => readFileSync(join(at.sessionFolder(), name), "utf8");
    expect(read("state")).toBe("done\n");
    expect(read("latest.md")).toBe("answer to input of a\n");
    expect(read("cwd")).toBe("/srv/project\n");
    expect(JSON.parse(read("state.json"))).toMatchObject({ state: "done", head: 9, run: null });
    expect(read("../index/list")).toBe("default\n");
    expect(read("../index/current")).toBe("default\n");
    const [hash = ""] = readdirSync(join(at.sessionFolder(), "../index/by-cwd"));
    expect(read(`../index/by-cwd/${hash}`)).toBe("default\n");
    expect(hash).toBe(new Bun.CryptoHasher("sha256").update("/srv/project").digest("hex"));
  });
});

describe("closing", () => {
  test("interrupts what runs and waits, tells its readers, and a restart replays that", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const begun = puppet.next();
    const first = collect(await sessions.send("coder", send("a")));
    const context = await begun;
    await context.toolCall("fs.read", {});
    const second = collect(await sessions.send("coder", send("b")));
    context.signal.addEventListener("abort", () => puppet.finish(context.run));
    await sessions.close();
    expect((await first).slice(-2)).toMatchObject([
      { type: "tool_result", status: "error", code: "interrupted" },
      { type: "done", status: "interrupted", code: "interrupted" },
    ]);
    expect((await second).at(-1)).toMatchObject({ type: "done", status: "interrupted" });
    const again = serve(oneCall);
    expect(await collect(await again.send("coder", send("b")))).toEqual(await second);
  });

  test("happens to an idle session by itself: lock and descriptors are given back", async () => {
    const sessions = serve(oneCall, { idleMs: 0 });
    await collect(await sessions.send("coder", send("a")));
    const locks = join(at.runtime, "lock");
    while (readdirSync(locks).length > 0) await Bun.sleep(1);
    expect(sessions.counts().open).toBe(0);
    await collect(await sessions.send("coder", send("b")));
    expect(at.events().map((one) => one["seq"])).toEqual(
      Array.from({ length: 17 }, (_, index) => index + 1),
    );
  });

  test("drops a temporary session when its last reader is gone", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor, { idleMs: 0 });
    const scope = { kind: "temp" as const };
    const begun = puppet.next();
    const stream = await sessions.send("coder", send("a", { scope }));
    const context = await begun;
    context.signal.addEventListener("abort", () => puppet.finish(context.run));
    stream.close();
    while (sessions.counts().open > 0) await Bun.sleep(1);
    expect(context.signal.aborted).toBe(true);
    const gone = sessions.status("coder", { ...status(), scope });
    await expect(gone).rejects.toMatchObject({ code: "ENOENT" });
    expect(existsSync(at.sessionFolder())).toBe(false);
  });
});

describe("two services on one tree", () => {
  test("never write the same session: the second is told who holds it", async () => {
    const sessions = serve(oneCall);
    await collect(await sessions.send("coder", send("a")));
    const other = serve(oneCall);
    const refused = { code: "session_locked", message: expect.stringContaining(`${process.pid}`) };
    await expect(other.send("coder", send("b"))).rejects.toMatchObject(refused);
    await expect(other.resume("coder", resume())).rejects.toMatchObject(refused);
    await sessions.close();
    expect(types(await collect(await other.send("coder", send("b")))).at(-1)).toBe("done");
  });

  test("a lost lock ends every attachment and the session is taken anew", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const begun = puppet.next();
    const stream = await sessions.send("coder", send("a"));
    const context = await begun;
    context.signal.addEventListener("abort", () => puppet.finish(context.run));
    const locks = join(at.runtime, "lock");
    for (const name of readdirSync(locks)) unlinkSync(join(locks, name));
    await expect(context.message("x")).rejects.toMatchObject({ code: "session_locked" });
    const frames = await collect(stream);
    expect(frames.at(-1)).toMatchObject({ type: "error", code: "session_locked" });
    const later = await collect(await sessions.resume("coder", resume()));
    expect(later.at(-1)).toMatchObject({ type: "done", status: "interrupted" });
  });
});
