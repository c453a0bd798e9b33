// The server on real sockets, with stand-ins behind them: who may ask what, bad input, streams,
// floods, agents that come and go, two servers, a clean stop and a killed one.

import { dlopen } from "bun:ffi";
import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { askAgent, askControl } from "../client/mod.ts";
import type { OpRequest } from "../interaction/mod.ts";
import { type RawPeer, rawPeer } from "../sock/raw-peer.ts";
import { treeRuntime } from "../tree/mod.ts";
import { type FakeLog, fakeParts } from "./fakes.ts";
import { type Daemon, defaultSettings, serve } from "./mod.ts";
import { makeTestTree, type TestTree } from "./test-tree.ts";

const isRoot = process.getuid?.() === 0;
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function newTree(owner?: number): TestTree {
  const tree = makeTestTree(owner);
  cleanups.push(() => tree.remove());
  return tree;
}

interface Served {
  readonly daemon: Daemon;
  readonly log: FakeLog;
  readonly events: string[];
}

async function serveTree(tree: TestTree): Promise<Served> {
  const { parts, log } = fakeParts();
  const events: string[] = [];
  const options = {
    places: tree.places,
    settings: defaultSettings,
    ctxBinary: "/nonexistent",
    log: (event: string) => events.push(event),
  };
  const daemon = await serve(options, parts);
  cleanups.push(() => daemon.stop());
  return { daemon, log, events };
}

const send = (input: string, id = "r1"): OpRequest => ({
  op: "send",
  id,
  session: "default",
  scope: { kind: "private" },
  input,
  cwd: undefined,
  workspace: undefined,
});

const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const frames = (text: string) =>
  text
    .split("\n")
    .slice(0, -1)
    .map((one) => JSON.parse(one) as Record<string, unknown>);

async function collect(tree: TestTree, request: OpRequest, agent = "coder") {
  const all = [];
  for await (const frame of askAgent(tree.places, agent, request)) all.push(frame);
  return all;
}

/** Connects with another effective uid, set for this thread alone while connect(2) runs. */
function peerAs(uid: number, path: string): Promise<RawPeer> {
  const { symbols } = dlopen("libc.so.6", {
    syscall: { args: ["i64", "i64", "i64", "i64"], returns: "i64" },
  });
  const setresuid = process.arch === "arm64" ? 147 : 117;
  symbols.syscall(setresuid, -1, uid, -1);
  try {
    return rawPeer(path);
  } finally {
    symbols.syscall(setresuid, -1, 0, -1);
  }
}

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
    ["a v1 envelope", line({ abi: "cortexfs.interaction/v1", payload: {} }), "unsupported_version"],
    ["a v2 hello", line({ abi: "cortexfs.interaction/v2", kind: "hello" }), "unsupported_version"],
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

describe("agents of the tree", () => {
  test("a malformed one is reported with its place, the others are served", async () => {
    const tree = newTree();
    const perm = join(tree.places.source, "agent/architect.d/perm");
    writeFileSync(perm, "rwz\n");
    const { daemon } = await serveTree(tree);
    expect([...daemon.agents].sort()).toEqual(["coder", "reviewer"]);
    expect(daemon.faults).toMatchObject([{ agent: "architect", error: { code: "EINVAL" } }]);
    expect(existsSync(tree.alias("architect"))).toBe(false);
    const attempt = collect(tree, send("x"), "architect");
    expect(attempt).rejects.toMatchObject({
      code: "EINVAL",
      message: expect.stringContaining("perm"),
    });
    await attempt.catch(() => {});
    // A client that asks again after the repair needs no restart.
    writeFileSync(perm, "r--\n");
    expect((await collect(tree, send("x"), "architect")).at(-1)).toMatchObject({ status: "ok" });
  });

  test("one that breaks while it is served answers with what is wrong", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    writeFileSync(join(tree.places.source, "agent/coder.d/path"), "not absolute\n");
    expect(await collect(tree, send("x"))).toMatchObject([{ type: "error", code: "EINVAL" }]);
    expect(log.calls).toEqual([]);
  });

  test("rescan serves a new one and drops a removed one", async () => {
    const tree = newTree();
    const { daemon } = await serveTree(tree);
    const folder = join(tree.places.source, "agent");
    await Bun.$`cp -a ${folder}/coder ${folder}/tester && cp -a ${folder}/coder.d ${folder}/tester.d`;
    rmSync(join(folder, "reviewer"));
    const reply = await askControl(tree.places, "rescan");
    expect(reply).toMatchObject({ type: "rescan", agents: ["architect", "coder", "tester"] });
    expect(daemon.agents).toContain("tester");
    expect((await collect(tree, send("x"), "tester")).at(-1)).toMatchObject({ status: "ok" });
    expect(lstatSync(tree.alias("reviewer"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("an agent nobody made is ENOENT, a file at the alias's name is a fault and stays", async () => {
    const tree = newTree();
    writeFileSync(tree.alias("coder"), "precious");
    const { daemon } = await serveTree(tree);
    expect(daemon.faults).toMatchObject([{ agent: "coder", error: { code: "EEXIST" } }]);
    const attempt = collect(tree, send("x"), "nobody");
    expect(attempt).rejects.toMatchObject({ code: "ENOENT" });
    await attempt.catch(() => {});
    await daemon.stop();
    expect(lstatSync(tree.alias("coder")).isFile()).toBe(true);
  });
});

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
