// The control socket, two servers on one tree, and the clean stop.

import { afterEach, describe, expect, test } from "bun:test";
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  cleanUp,
  collect,
  frames,
  isRoot,
  line,
  newTree,
  peerAs,
  send,
  serveTree,
} from "../../testdata/daemon/served.ts";
import { rawPeer } from "../../testdata/sock/raw-peer.ts";
import { askControl } from "../client/mod.ts";
import { treeRuntime } from "../tree/mod.ts";

afterEach(cleanUp);

describe("the control socket", () => {
  test("says who serves what, and stops the server", async () => {
    const tree = newTree();
    const { daemon, log } = await serveTree(tree);
    const pong = await askControl(tree.places, "ping");
    expect(pong).toMatchObject({ type: "pong", pid: process.pid, source: tree.places.source });
    const peer = await rawPeer(join(treeRuntime(tree.places), "ctxd.sock"));
    peer.write("{}\n");
    expect(frames(await peer.rest())).toMatchObject([{ type: "error", code: "EINVAL" }]);
    expect(await askControl(tree.places, "stop")).toEqual({ type: "stopping", pid: process.pid });
    await daemon.stopped;
    expect(log.calls).toEqual(["close"]);
  });

  test("pings for anybody, stops for nobody but root and the server", async () => {
    if (!isRoot) return console.log("SKIP peers of other uids: only root can pose as them");
    const tree = newTree(61184);
    await serveTree(tree);
    const path = join(treeRuntime(tree.places), "ctxd.sock");
    for (const [uid, op, type] of [
      [61185, "ping", "pong"],
      [61185, "rescan", "error"],
      [61184, "rescan", "rescan"],
      [61184, "stop", "error"],
    ] as const) {
      const peer = await peerAs(uid, path);
      peer.write(line({ op }));
      expect(frames(await peer.rest())).toMatchObject([{ type }]);
    }
  });
});

describe("serve()", () => {
  test("refuses a tree that another server has and names it", async () => {
    const tree = newTree();
    await serveTree(tree);
    const attempt = serveTree(tree);
    expect(attempt).rejects.toMatchObject({
      code: "session_locked",
      message: expect.stringContaining(`pid ${process.pid}`),
    });
    await attempt.catch(() => {});
    expect((await collect(tree, send("x"))).at(-1)).toMatchObject({ status: "ok" });
  });

  test("refuses a tree that a server with another runtime folder has", async () => {
    const tree = newTree();
    await serveTree(tree);
    const other = { ...tree, places: { ...tree.places, runtime: join(tree.base, "run2") } };
    const attempt = serveTree(other);
    expect(attempt).rejects.toMatchObject({ code: "session_locked" });
    await attempt.catch(() => {});
  });

  test("ends by itself when its runtime folder is taken away, and leaves a successor alone", async () => {
    const tree = newTree();
    const { daemon, events } = await serveTree(tree);
    rmSync(tree.places.runtime, { recursive: true });
    const successor = await serveTree(tree);
    await daemon.stopped;
    expect(events).toContain("lock.lost");
    expect(lstatSync(tree.alias("coder")).isSymbolicLink()).toBe(true);
    expect((await collect(tree, send("x"))).at(-1)).toMatchObject({ status: "ok" });
    expect(successor.events).not.toContain("lock.lost");
  });

  test("a clean stop ends streams, admits nothing, and leaves no socket, alias or lock", async () => {
    const tree = newTree();
    const { daemon, log } = await serveTree(tree);
    const late = await rawPeer(tree.alias("coder"));
    const running = collect(tree, send("hold"));
    while (log.produced === 0) await new Promise(setImmediate);
    const stopped = daemon.stop();
    expect(frames(await late.rest())).toMatchObject([{ type: "error", code: "EHOSTDOWN" }]);
    expect((await running).at(-1)).toMatchObject({ type: "done" });
    await stopped;
    const runtime = treeRuntime(tree.places);
    expect(readdirSync(join(runtime, "agent"))).toEqual([]);
    expect(readdirSync(runtime).sort()).toEqual(["agent", "ctxd.lock"]);
    expect(lstatSync(tree.alias("coder"), { throwIfNoEntry: false })).toBeUndefined();
    const attempt = collect(tree, send("x"));
    expect(attempt).rejects.toMatchObject({ code: "EHOSTDOWN" });
    await attempt.catch(() => {});
    await serveTree(tree);
    expect((await collect(tree, send("x"))).at(-1)).toMatchObject({ status: "ok" });
  });
});
