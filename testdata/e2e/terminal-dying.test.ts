// What is said of a terminal between the end of its program and the end of the last of its processes.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import {
  fileOf,
  listed,
  recordsOf,
  sh,
  start,
  stop,
  stopAll,
  until,
  wait,
} from "./terminal-start-world.ts";
import { isRoot, World } from "./world.ts";

const world = new World();
const slowMs = 30_000;

beforeAll(async () => {
  await world.bootstrap();
  await world.serve();
}, slowMs);

afterAll(async () => {
  await stopAll(world);
  const left = await leftoversAfterGrace(world);
  await world.destroy();
  if (isRoot) expect(left).toEqual([]);
}, slowMs);

/** A terminal whose program has ended this moment, as its recording says. */
async function dying(session: string) {
  const workspace = `${world.workspace} /workspace rw`;
  const waits = `while ! test -e /workspace/${session}; do /usr/bin/sleep 0.02; done; exit 5`;
  const before = await start(world, { session, mounts: [workspace], command: sh(waits) });
  const file = join(world.workspace, session);
  writeFileSync(file, "");
  if (isRoot) chownSync(file, world.uid, world.uid);
  const isOver = () => recordsOf(world, session).some(({ type }) => type === "process.exit");
  await until("its end", isOver);
  return before;
}

describe("a terminal whose program has ended", () => {
  test(
    "is not called ready by a start, which gives a new one",
    async () => {
      const before = await dying("anew");
      const after = await start(world, { session: "anew", command: sh(wait) });
      expect(after.state).toBe("ready");
      expect(after.started_at).not.toBe(before.started_at);
      expect(fileOf(world, "state", "anew")).toBe("ready");
      expect(await stop(world, "anew")).toMatchObject({ state: "exited" });
    },
    slowMs,
  );

  test(
    "is not among those that run, and its files say how it ended",
    async () => {
      await dying("listed");
      expect(await listed(world)).toEqual([]);
      await until("its state", () => fileOf(world, "state", "listed") === "exited");
      expect(fileOf(world, "status", "listed")).toBe("5");
      expect(await stop(world, "listed")).toMatchObject({ state: "exited", status: 5 });
    },
    slowMs,
  );
});
