// Who may be killed, and what becomes of a terminal then: the server, the launch, and the terminal's
// own end while nobody looks.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chownSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace } from "./leftovers.ts";
import {
  fileOf,
  folderOf,
  listed,
  mark,
  PlainClient,
  receiptOf,
  receiptPath,
  type Stamp,
  sh,
  sleepers,
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
  // The server's own processes are root's, so that every one of the uid is a leftover.
  if (isRoot) expect(left).toEqual([]);
}, slowMs);

const workspace = () => `${world.workspace} /workspace rw`;

describe("a kill of ctxd", () => {
  const script = `(/usr/bin/setsid /usr/bin/sleep 603 & ); echo "<here=$$>"; ${wait}`;

  test(
    "leaves the terminal, which the next server finds, serves and stops",
    async () => {
      const before = await start(world, { session: "stays", command: sh(script) });
      await mark(world, "here", "stays");
      await world.stop("SIGKILL");
      const watcher = new PlainClient(world, "watch", "stays");
      await until("the screen without a server", () => watcher.text.includes("<here="));
      watcher.end();
      await world.serve();
      expect(await listed(world)).toEqual([before]);
      expect(await start(world, { session: "stays" })).toEqual(before);
      expect(await stop(world, "stays")).toMatchObject({ state: "exited" });
      expect(sleepers(world, "60[03]")).toEqual([]);
    },
    slowMs,
  );

  test(
    "keeps its shell asking the host: whether a tool may run is answered by the next server",
    async () => {
      await start(world, { session: "asks", mounts: [workspace()] });
      const person = new PlainClient(world, "attach", "asks");
      const runs = async (name: string) => {
        person.type(`fs.list '{"path":"${name}"}'\r`);
        await until(`what is in ${name}: ${person.text}`, () =>
          person.text.includes(`${name}-is-here`),
        );
      };
      for (const name of ["one", "two"]) {
        mkdirSync(join(world.workspace, name));
        writeFileSync(join(world.workspace, name, `${name}-is-here`), "");
      }
      await runs("one");
      await world.stop("SIGKILL");
      await world.serve();
      await runs("two");
      person.end();
      expect(await stop(world, "asks")).toMatchObject({ state: "exited" });
    },
    slowMs,
  );

  test(
    "and one that ended meanwhile is found as it ended",
    async () => {
      const end = join(world.workspace, "end");
      const waits = `while ! test -e /workspace/end; do /usr/bin/sleep 0.02; done; exit 5`;
      await start(world, { session: "ends", mounts: [workspace()], command: sh(waits) });
      await world.stop("SIGKILL");
      writeFileSync(end, "");
      if (isRoot) chownSync(end, world.uid, world.uid);
      await until("its end", () => fileOf(world, "state", "ends") === "exited");
      await world.serve();
      expect(await listed(world)).toEqual([]);
      expect(await stop(world, "ends")).toMatchObject({ state: "exited", status: 5 });
      expect(existsSync(receiptPath(world, "ends"))).toBe(false);
    },
    slowMs,
  );

  test(
    "and one whose end is written down already is not found as ready while its processes go",
    async () => {
      const before = await start(world, { session: "written", command: sh(wait) });
      await world.stop("SIGKILL");
      writeFileSync(join(folderOf(world, "written"), "state"), "exited\n");
      await world.serve();
      expect(await listed(world)).toEqual([]);
      const after = await start(world, { session: "written", command: sh(wait) });
      expect(after).toMatchObject({ state: "ready" });
      expect(after["started_at"]).not.toBe(before["started_at"]);
      expect(await stop(world, "written")).toMatchObject({ state: "exited" });
    },
    slowMs,
  );

  test(
    "whose receipts name pids that others have by now ends nobody",
    async () => {
      await start(world, { session: "other", command: sh(wait) });
      const named = receiptOf(world, "other");
      await world.stop("SIGKILL");
      const launch = named["launch"] as Stamp;
      process.kill(launch.pid, "SIGKILL");
      await until("its end", () => sleepers(world, "600").length === 0);
      const innocent = Bun.spawn(["sleep", "604"]);
      try {
        const stamp = { pid: innocent.pid, startTime: "1" };
        const stale = { ...named, launch: stamp, root: stamp, init: stamp };
        writeFileSync(receiptPath(world, "other"), JSON.stringify(stale));
        await world.serve();
        expect(innocent.exitCode).toBeNull();
        expect(existsSync(receiptPath(world, "other"))).toBe(false);
        expect(await stop(world, "other")).toMatchObject({ state: "lost" });
      } finally {
        innocent.kill();
      }
    },
    slowMs,
  );
});

test(
  "a terminal whose runtime folder went with its server ends by itself",
  async () => {
    const lonely = new World();
    await lonely.bootstrap();
    await lonely.serve();
    await start(lonely, { command: sh(wait) });
    await lonely.stop("SIGKILL");
    rmSync(join(lonely.base, "run"), { recursive: true });
    await until("its end", () => fileOf(lonely, "state") === "exited");
    expect(sleepers(lonely, "600")).toEqual([]);
    await lonely.destroy();
  },
  slowMs,
);

/** Milliseconds into a start: before, while and after its sandbox is made. */
const moments =
  process.env["CTX_LONG"] === "1" ? [5, 20, 50, 100, 150, 200, 300, 400, 600] : [30, 250];

test.each(moments)(
  "a server that is killed %d ms into a start leaves a terminal that is ready, or nothing that lives",
  async (ms) => {
    const session = `cut-${ms}`;
    const started = start(world, { session, command: sh(wait) }).catch(() => undefined);
    await Bun.sleep(ms);
    await world.stop("SIGKILL");
    await started;
    await world.serve();
    const [found] = await listed(world);
    if (found !== undefined) expect(await stop(world, session)).toMatchObject({ state: "exited" });
    await until("the end of all", () => sleepers(world, "600").length === 0);
    expect(await listed(world)).toEqual([]);
    expect(existsSync(receiptPath(world, session))).toBe(false);
  },
  slowMs,
);

test(
  "a kill of the launch ends all inside, and the terminal is lost",
  async () => {
    const script = `(/usr/bin/setsid /usr/bin/sleep 605 & ); ${wait}`;
    await start(world, { session: "killed", command: sh(script) });
    await until("the daemon", () => sleepers(world, "605").length > 0);
    process.kill((receiptOf(world, "killed")["launch"] as Stamp).pid, "SIGKILL");
    await until("the end of all", () => sleepers(world, "60[05]").length === 0);
    await until("the word of it", () => fileOf(world, "state", "killed") === "lost");
    await until("the receipt's end", () => !existsSync(receiptPath(world, "killed")));
    expect(await listed(world)).toEqual([]);
    // And there is room for the next one.
    expect(await start(world, { session: "killed", command: sh(wait) })).toMatchObject({
      state: "ready",
    });
    await stop(world, "killed");
  },
  slowMs,
);
