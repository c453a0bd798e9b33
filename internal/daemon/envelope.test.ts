// Enveloped frames at an agent's socket: v1 served in its own form, other versions refused in a form
// that their peer can read.

import { afterEach, describe, expect, test } from "bun:test";
import { cleanUp, frames, line, newTree, send, serveTree } from "../../testdata/daemon/served.ts";
import { rawPeer } from "../../testdata/sock/raw-peer.ts";

afterEach(cleanUp);

const v1 = "cortexfs.interaction/v1";
const v2 = "cortexfs.interaction/v2";

const request = (value: object) => line({ abi: v1, payload: { direction: "request", value } });

const event = (value: object) => ({ abi: v1, payload: { direction: "event", value } });

const input = (text: string, more: object = {}) =>
  request({
    type: "input",
    request_id: "r1",
    session: "s",
    scope: "private",
    input: text,
    origin: { transport: "test" },
    ...more,
  });

async function ask(bytes: string | Uint8Array) {
  const tree = newTree();
  const { log } = await serveTree(tree);
  const peer = await rawPeer(tree.alias("coder"));
  peer.write(bytes);
  peer.shutdown();
  return { log, answer: frames(await peer.rest()) };
}

describe("interaction v1", () => {
  test("an input is answered by events that name its request, in the envelope", async () => {
    const { log, answer } = await ask(input("hello"));
    const ofRun = { request_id: "r1", run: "ctx-0" };
    expect(answer).toEqual([
      event({ type: "accepted", request_id: "r1", session: "s", run: "ctx-0" }),
      event({ type: "message", ...ofRun, role: "assistant", text: "hello" }),
      event({ type: "done", ...ofRun, status: "ok" }),
    ]);
    expect(log.calls).toEqual(["send:coder:r1"]);
  });

  test("status, resume and cancel reach the same sessions", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const asked = async (value: object) => {
      const peer = await rawPeer(tree.alias("coder"));
      peer.write(request({ request_id: "q", ...value }));
      return frames(await peer.rest());
    };
    expect(await asked({ type: "status", session: "s" })).toEqual([
      event({
        type: "status",
        ...{ request_id: "q", session: "s", status: "idle", phase: "idle", step: 0 },
      }),
    ]);
    const types = (await asked({ type: "resume", session: "s" })).map(
      (one) => (one["payload"] as { value: { type: string } }).value.type,
    );
    expect(types).toEqual(["accepted", "message", "done"]);
    expect(await asked({ type: "cancel", run: "ctx-7" })).toEqual([
      event({ type: "done", request_id: "q", run: "ctx-7", status: "cancelled" }),
    ]);
    expect(log.calls).toEqual(["status:coder:s", "resume:coder:s", "cancel:coder:ctx-7"]);
  });

  const result = { type: "command_result", session: "s", command_id: "call-3" };

  test.each([
    ["a request id that is empty", input("x", { request_id: "" }), "EINVAL", "0"],
    ["a session that is no name", input("x", { session: ".." }), "EINVAL", "r1"],
    ["an event of over 64 KiB", input("x", { event: { a: "x".repeat(65_536) } }), "EMSGSIZE", "r1"],
    ["an unknown request", request({ type: "fly", request_id: "r" }), "EINVAL", "r"],
    ["an event", line(event({ type: "done", request_id: "r", status: "ok" })), "EINVAL", "r"],
    ["no payload", line({ abi: v1 }), "EINVAL", "0"],
    [
      "a command's result on a connection of its own",
      request({ ...result, request_id: "r", result: { type: "accepted" } }),
      ...(["EINVAL", "r"] as const),
    ],
  ])("%s is one error event, and no session is asked", async (_, bytes, code, id) => {
    const { log, answer } = await ask(bytes);
    expect(answer).toEqual([
      event({
        type: "error",
        ...{ request_id: id, code, message: expect.any(String), retryable: false },
      }),
    ]);
    expect(log.calls).toEqual([]);
  });

  test("beside a stream nothing but a command's result has a place", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    const peer = await rawPeer(tree.alias("coder"));
    peer.write(input("hold"));
    await peer.line();
    peer.write(request({ type: "status", request_id: "q", session: "s" }));
    expect(await peer.line()).toContain('"code":"EINVAL"');
    peer.write(request({ ...result, request_id: "q", result: { type: "accepted" } }));
    expect(await peer.line()).toContain("is not of this connection");
    log.release();
    expect(frames(await peer.rest()).length).toBe(2);
    expect(log.calls).toEqual(["send:coder:r1"]);
  });
});

describe("other versions", () => {
  test("an envelope like v1's gets a v1 error", async () => {
    const { answer } = await ask(line({ abi: "cortexfs.interaction/v7", payload: {} }));
    expect(answer).toMatchObject([
      event({ type: "error", request_id: "0", code: "unsupported_version" }),
    ]);
  });

  const correlation = {
    ...{ connection_id: "c1", attachment_id: null, request_id: null },
    ...{ run_id: null, command_id: null },
  };
  const data = { versions: [v2], fallback_versions: [v1], master_id: "m" };
  const nothing = { mode: null, session: null, origin: null, durable: false };
  const hello = (more: object) => ({
    abi: v2,
    correlation,
    session_seq: null,
    event: { side: "master", kind: "hello", capabilities: ["input"], ...nothing, data, ...more },
  });
  const anonymous = { ...correlation, connection_id: null };

  test.each([
    ["a hello", hello({}), "unsupported_version", correlation],
    ["a hello of a later abi", { ...hello({}), abi: "x/v3" }, "unsupported_version", correlation],
    ["an unknown kind", hello({ kind: "greet" }), "EINVAL", correlation],
    ["the slave's side", hello({ side: "slave" }), "EINVAL", correlation],
    ["no correlation", { ...hello({}), correlation: 5 }, "EINVAL", anonymous],
    ["257 KiB", hello({ pad: "x".repeat(257 * 1024) }), "EMSGSIZE", anonymous],
  ])("a v2 frame (%s) gets a v2 error, then the connection closes", async (_, frame, code, ids) => {
    const { log, answer } = await ask(line(frame));
    expect(answer).toMatchObject([
      { abi: v2, correlation: ids, event: { side: "slave", kind: "error", data: { code } } },
    ]);
    expect(log.calls).toEqual([]);
  });

  test("an op beside an abi is an op: unknown fields are ignored", async () => {
    const { answer } = await ask(line({ ...send("hello"), scope: "private", abi: v2 }));
    expect(answer.map(({ type }) => type)).toEqual(["start", "message", "done"]);
  });
});
