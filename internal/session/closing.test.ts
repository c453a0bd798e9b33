import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
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
