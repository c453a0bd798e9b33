// Many sessions at once, and what group commit is for.

import { expect, spyOn, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileCalls } from "../session-log/mod.ts";
import { collect, oneCall, type Place, place, send, service } from "./fixture.ts";

const descriptors = () => readdirSync("/proc/self/fd").length;

async function untilUnlocked(at: Place): Promise<void> {
  const locks = join(at.runtime, "lock");
  while (readdirSync(locks).length > 0) await Bun.sleep(5);
}

test("200 sessions at once end ok with whole logs; descriptors and memory come back", async () => {
  const at = place();
  const sessions = service(at, oneCall, { idleMs: 0 });
  try {
    const round = async (name: string) => {
      const names = Array.from({ length: 200 }, (_, index) => `s-${index}`);
      const all = names.map(async (session) => {
        const frames = await collect(
          await sessions.send("coder", send(`${name}-${session}`, { session })),
        );
        expect(frames.at(-1)).toMatchObject({ type: "done", status: "ok" });
      });
      await Promise.all(all);
      await untilUnlocked(at);
      return names;
    };
    await round("warm");
    Bun.gc(true);
    const before = { open: descriptors(), rss: process.memoryUsage().rss };
    const names = await round("first");
    Bun.gc(true);
    expect(descriptors()).toBe(before.open);
    expect(process.memoryUsage().rss - before.rss).toBeLessThan(32 * 1024 * 1024);
    for (const session of names) {
      const events = at.events(session);
      expect(events.map((one) => one["seq"])).toEqual(events.map((_, index) => index + 1));
      expect(events.filter((one) => one["type"] === "tool.result").length).toBe(2);
      expect(
        events.filter((one) => one["status"] === "ok" && one["type"] === "run.done").length,
      ).toBe(2);
    }
  } finally {
    await sessions.close();
    at.remove();
  }
}, 120_000);

test("64 sessions share the syncs of their claims: fewer than one a send", async () => {
  const at = place();
  const sync = spyOn(fileCalls, "sync");
  const sessions = service(at, async () => ({ status: "ok" }));
  try {
    const round = async (parallel: number, rounds: number, name: string) => {
      const before = sync.mock.calls.length;
      const begun = performance.now();
      await Promise.all(
        Array.from({ length: parallel }, async (_, one) => {
          for (let index = 0; index < rounds; index++) {
            const id = `${name}-${one}-${index}`;
            await collect(await sessions.send("coder", send(id, { session: `s-${one}` })));
          }
        }),
      );
      const sends = parallel * rounds;
      const rate = (sends * 1000) / (performance.now() - begun);
      console.log(`${parallel} at once: ${rate.toFixed(0)} sends a second`);
      return (sync.mock.calls.length - before) / sends;
    };
    await round(64, 1, "warm");
    // Message line and claim, the acceptance, the end: four when nobody shares.
    expect(await round(1, 20, "alone")).toBe(4);
    expect(await round(64, 4, "many")).toBeLessThan(3.7);
  } finally {
    sync.mockRestore();
    await sessions.close();
    at.remove();
  }
}, 120_000);
