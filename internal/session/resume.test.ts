import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
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
