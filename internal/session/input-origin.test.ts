// What an input says of where it came from: recorded, told to nobody, and only the event is part of
// what makes two inputs the same. And when a run begins, its readers are told.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { JsonObject, SessionFrame } from "../interaction/mod.ts";
import { collect, oneCall, type Place, Puppet, place, resume, send, service } from "./fixture.ts";
import type { Sessions } from "./sessions.ts";
import type { FrameStream } from "./stream.ts";

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

function serve(executor = oneCall): Sessions {
  const sessions = service(at, executor);
  open.push(sessions);
  return sessions;
}

const origin = { transport: "im", identity: "user:42", metadata: { locale: "de" } };

describe("an input's origin and event", () => {
  test("are recorded with its acceptance", async () => {
    const sessions = serve();
    await collect(await sessions.send("coder", send("a", { origin, event: { kind: "message" } })));
    await collect(await sessions.send("coder", send("b")));
    const [first, second] = at.events().filter((one) => one["type"] === "request.accepted");
    expect(first).toMatchObject({ origin, event: { kind: "message" } });
    expect(second).not.toHaveProperty("origin");
    expect(second).not.toHaveProperty("event");
  });

  const asked = async (sessions: Sessions, event: JsonObject | undefined, transport: string) => {
    const more = event === undefined ? {} : { event };
    const stream = await sessions.send("coder", send("a", { ...more, origin: { transport } }));
    return collect(stream);
  };

  test("a retry by another way, or with its keys in another order, is the same input", async () => {
    const sessions = serve();
    const first = await asked(sessions, { a: { x: 1, y: [{ b: 1, c: 2 }] }, 10: 0, 9: 0 }, "im");
    const again = await asked(sessions, { 9: 0, a: { y: [{ c: 2, b: 1 }], x: 1 }, 10: 0 }, "web");
    const durable = (frames: typeof first) => frames.filter((frame) => "seq" in frame);
    expect(again).toEqual(durable(first));
    expect(durable(first).length).toBeGreaterThan(4);
  });

  test("another event is another input, also none at all and one of another shape", async () => {
    const sessions = serve();
    await asked(sessions, { a: [1, 2] }, "im");
    const others = [undefined, {}, { a: [2, 1] }, { a: { 0: 1, 1: 2 } }, { a: "1,2" }];
    for (const other of [...others, { pairs: [["a", [1, 2]]] }]) {
      await expect(asked(sessions, other, "im")).rejects.toMatchObject({
        code: "request_conflict",
      });
    }
  });
});

describe("the beginning of a run", () => {
  const all = async (stream: FrameStream) => {
    const frames: SessionFrame[] = [];
    for await (const frame of stream) frames.push(frame);
    return frames.map((frame): string => frame.type);
  };

  test("is told after its input, and again in a replay", async () => {
    const sessions = serve();
    const told = await all(await sessions.send("coder", send("a")));
    expect(told.slice(0, 3)).toEqual(["start", "message", "started"]);
    const again = await all(await sessions.resume("coder", resume()));
    expect(again.slice(0, 3)).toEqual(["start", "message", "started"]);
  });

  test("of an input that waits is told when the run before it is over, with its model", async () => {
    const puppet = new Puppet();
    const sessions = serve(puppet.executor);
    const began = puppet.next();
    const first = await sessions.send("coder", send("a"));
    const { run } = await began;
    const second = await sessions.send("coder", send("b"));
    const reader = second[Symbol.asyncIterator]();
    const next = async () => (await reader.next()).value as SessionFrame;
    expect(await next()).toMatchObject({ type: "start", queued: true });
    expect(await next()).toMatchObject({ type: "message" });
    const later = reader.next();
    const then = puppet.next();
    puppet.finish(run);
    expect((await later).value).toMatchObject({ type: "started", model: "debug/echo" });
    puppet.finish((await then).run);
    expect(await next()).toMatchObject({ type: "done", status: "ok" });
    expect((await all(first)).at(-1)).toBe("done");
  });
});
