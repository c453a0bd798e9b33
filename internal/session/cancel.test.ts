import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { collect, type Place, Puppet, place, send, service, started, types } from "./fixture.ts";
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
