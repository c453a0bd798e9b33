// An agent's socket against real peers: requests, bad input, floods, who may ask what.

import { afterEach, describe, expect, test } from "bun:test";
import { lstatSync, readdirSync, readlinkSync } from "node:fs";
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

afterEach(cleanUp);

describe("an agent's socket", () => {
  test("streams a run, and answers ping, status, resume and cancel", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    expect((await collect(tree, send("hello"))).map(({ type }) => type)).toEqual([
      "start",
      "message",
      "done",
    ]);
    expect(await collect(tree, { op: "ping" })).toEqual([{ type: "pong", id: "0" }]);
    const scope = { kind: "private" } as const;
    await collect(tree, { op: "status", session: "s", scope });
    await collect(tree, { op: "resume", session: "s", scope, after: undefined });
    const cancelled = await collect(tree, { op: "cancel", id: "ctx-7" });
    expect(cancelled).toEqual([{ type: "done", id: "9", run: "ctx-7", status: "cancelled" }]);
    expect(log.calls).toEqual([
      "send:coder:r1",
      "status:coder:s",
      "resume:coder:s",
      "cancel:coder:ctx-7",
    ]);
  });

  test.each([
    ["garbage", "hello?\n", "EINVAL"],
    ["a JSON value that is no object", "[1]\n", "EINVAL"],
    ["an unknown op", line({ op: "fly" }), "EINVAL"],
    ["an abi of no known form", line({ abi: "cortexfs.interaction/v9" }), "unsupported_version"],
    ["a bad session name", line({ op: "send", id: "a", session: "..", input: "x" }), "EINVAL"],
    ["1 MiB and one byte", `${"x".repeat(1024 * 1024)}\n`, "EMSGSIZE"],
    ["half a line", `{"op":"pi`, "EINVAL"],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d, 0x0a]), "EINVAL"],
  ])("answers %s with one error frame, closes, and asks no session", async (_, bytes, code) => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const peer = await rawPeer(tree.alias("coder"));
    peer.write(bytes);
    peer.shutdown();
    expect(frames(await peer.rest())).toMatchObject([{ type: "error", id: "0", code }]);
    expect(log.calls).toEqual([]);
  });

  test("gives a failure of the server as an error frame and names it in the log", async () => {
    const tree = newTree();
    const { events } = await serveTree(tree);
    expect(await collect(tree, send("fail"))).toMatchObject([{ type: "error", code: "EIO" }]);
    expect(events).toContain("request.failed");
  });

  test("answers a client that has shut down its writing side", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const peer = await rawPeer(tree.alias("coder"));
    peer.write(line({ op: "send", id: "a", input: "hold" }));
    peer.shutdown();
    expect(await peer.line()).toContain(`"start"`);
    log.release();
    expect(frames(await peer.rest()).map(({ type }) => type)).toEqual(["message", "done"]);
  });

  test("stops reading a run's frames when its client leaves, once", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const peer = await rawPeer(tree.alias("coder"));
    peer.write(line({ op: "send", id: "a", input: "hold" }));
    await peer.line();
    peer.destroy();
    while (log.closedStreams === 0) await new Promise(setImmediate);
    log.release();
    expect(log.closedStreams).toBe(1);
  });

  test("takes ping, status and cancel beside a stream and refuses the rest", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const peer = await rawPeer(tree.alias("coder"));
    peer.write(line({ op: "send", id: "a", input: "hold" }));
    await peer.line();
    peer.write(`${line({ op: "ping" })}${line({ op: "send", id: "b", input: "x" })}nonsense\n`);
    expect(frames(await peer.line())).toMatchObject([{ type: "pong" }]);
    expect(frames(await peer.line())).toMatchObject([{ type: "error", code: "EINVAL" }]);
    expect(frames(await peer.line())).toMatchObject([{ type: "error", code: "EINVAL" }]);
    peer.write(line({ op: "cancel", id: "ctx-0" }));
    expect(frames(await peer.line())).toMatchObject([{ type: "done", status: "cancelled" }]);
    log.release();
    expect(frames(await peer.rest()).map(({ type }) => type)).toEqual(["message", "done"]);
    expect(log.calls).toEqual(["send:coder:a", "cancel:coder:ctx-0"]);
  });

  test("hands an answer to the stream, and what is none, and the end of what the peer says", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const peer = await rawPeer(tree.alias("coder"));
    peer.write(line({ op: "send", id: "a", input: "hold" }));
    await peer.line();
    const about = { op: "approve", run: "ctx-0", id: "call-1" };
    peer.write(line({ ...about, decision: "deny", reason: "no", digest: "d" }));
    peer.write(line({ ...about, id: "call-2", decision: "allow_once" }));
    expect(frames(await peer.line())).toMatchObject([{ type: "error", code: "EINVAL" }]);
    peer.write(line({ ...about, decision: "always" }));
    expect(frames(await peer.line())).toMatchObject([{ type: "error", code: "EINVAL" }]);
    peer.shutdown();
    while (!log.answers.includes("ended")) await new Promise(setImmediate);
    expect(log.answers).toEqual([
      "call-1:deny:no:d",
      "call-2:allow_once:-:-",
      'malformed: decision "always" is not one of allow_once, deny',
      "ended",
    ]);
    log.release();
    await peer.rest();
  });

  test("refuses an answer that is a connection's first line", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const request = { op: "approve", run: "ctx-0", id: "call-1", decision: "allow_once" } as const;
    const answer = { ...request, reason: undefined, digest: undefined };
    expect(await collect(tree, answer)).toMatchObject([{ type: "error", code: "EACCES" }]);
    expect(log.answers).toEqual([]);
  });

  test("holds back a run for a client that does not read and loses nothing of it", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const peer = await rawPeer(tree.alias("coder"));
    peer.pause();
    const count = 20_000;
    peer.write(line({ op: "send", id: "a", input: `flood ${count}` }));
    let before = -1;
    while (log.produced === 0 || log.produced !== before) {
      before = log.produced;
      for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    }
    // About what the kernel's buffer of one socket holds, in frames of one kilobyte.
    expect(log.produced).toBeLessThan(1000);
    peer.resume();
    expect(frames(await peer.rest()).length).toBe(count + 3);
  });

  test("serves 200 connections at once and gives every descriptor back", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    await collect(tree, send("first", "first"));
    const descriptors = () => readdirSync("/proc/self/fd").length;
    const before = descriptors();
    const runs = Array.from({ length: 200 }, (_, number) =>
      collect(tree, send("hi", `r${number}`)),
    );
    for (const got of await Promise.all(runs)) expect(got.at(-1)).toMatchObject({ status: "ok" });
    while (log.closedStreams < 201) await new Promise(setImmediate);
    for (let turn = 0; turn < 500 && descriptors() > before; turn += 1) {
      await new Promise(setImmediate);
    }
    expect(descriptors()).toBeLessThanOrEqual(before);
  });
});

describe("who may ask", () => {
  const owner = 61184;

  test("the owner all, root what harms nobody, a stranger nothing", async () => {
    if (!isRoot) return console.log("SKIP peers of other uids: only root can pose as them");
    const tree = newTree(owner);
    const { log } = await serveTree(tree);
    const path = readlinkSync(tree.alias("coder"));
    expect(lstatSync(path).uid).toBe(owner);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);

    const own = await peerAs(owner, path);
    own.write(line({ op: "send", id: "a", input: "x" }));
    expect(frames(await own.rest()).at(-1)).toMatchObject({ type: "done", status: "ok" });
    for (const [request, type] of [
      [{ op: "ping" }, "pong"],
      [{ op: "status" }, "status"],
      [{ op: "cancel", id: "ctx-1" }, "done"],
      [{ op: "send", id: "b", input: "x" }, "error"],
      [{ op: "resume" }, "error"],
      [{ op: "approve", run: "ctx-0", id: "call-1", decision: "allow_once" }, "error"],
    ] as const) {
      const root = await rawPeer(path);
      root.write(line(request));
      expect(frames(await root.rest())).toMatchObject([{ type }]);
    }
    expect(log.calls).toEqual(["send:coder:a", "status:coder:default", "cancel:coder:ctx-1"]);
    await expect(peerAs(owner + 1, path)).rejects.toThrow();
  });

  test("a stranger that reaches the socket gets EACCES unread", async () => {
    if (!isRoot) return console.log("SKIP peers of other uids: only root can pose as them");
    const tree = newTree(owner);
    const { log } = await serveTree(tree);
    const path = readlinkSync(tree.alias("coder"));
    await Bun.$`chmod 0666 ${path}`;
    for (const uid of [owner + 1, 65534]) {
      const stranger = await peerAs(uid, path);
      expect(frames(await stranger.rest())).toMatchObject([{ type: "error", code: "EACCES" }]);
    }
    expect(log.calls).toEqual([]);
  });

  test("a shared space without a policy line is EACCES", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const scope = { kind: "shared", space: "team" } as const;
    const request = { op: "resume", session: "s", scope, after: undefined } as const;
    const [frame] = await collect(tree, request);
    expect(frame).toMatchObject({ type: "error", message: expect.stringContaining("team") });
    expect(log.calls).toEqual([]);
  });
});
