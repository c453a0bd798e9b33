// `ctx agent send` against a server that only this test controls: both sockets are made here and the
// frames are written down, so every way in which a run may end can be shown.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { treeRuntime } from "../../internal/tree/mod.ts";
import { ownerUid, Place } from "../../testdata/cli/program.ts";

setDefaultTimeout(120_000);

const place = new Place();
const run = `ctx-${"0".repeat(32)}`;
const requests: Record<string, unknown>[] = [];
let script: (request: Record<string, unknown>) => readonly unknown[] = () => [];

type Answer = (request: Record<string, unknown>) => readonly unknown[];

function listen(path: string, answer: Answer) {
  const server = Bun.listen<{ text: string }>({
    unix: path,
    socket: {
      open(socket) {
        socket.data = { text: "" };
      },
      data(socket, chunk) {
        socket.data.text += chunk.toString();
        if (!socket.data.text.endsWith("\n")) return;
        const frames = answer(JSON.parse(socket.data.text));
        socket.write(frames.map((frame) => `${JSON.stringify(frame)}\n`).join(""));
        socket.end();
      },
    },
  });
  chmodSync(path, 0o666);
  return server;
}

const sessions = { open: 0, running: 0, queued: 0 };
const servers: { stop(force?: boolean): void }[] = [];

beforeAll(async () => {
  await place.bootstrap();
  const runtime = treeRuntime({
    runtime: place.env["CTX_RUNTIME_DIR"] as string,
    source: place.source,
  });
  mkdirSync(join(runtime, "agent"), { recursive: true });
  const pong = { type: "pong", pid: process.pid, uid: process.getuid?.(), version: "0.1.0" };
  servers.push(
    listen(join(runtime, "ctxd.sock"), () => [
      { ...pong, source: place.source, agents: ["coder"], faults: [], sessions },
    ]),
    listen(join(place.source, "agent/coder.sock"), (request) => {
      requests.push(request);
      return script(request);
    }),
  );
  if (process.getuid?.() === 0)
    chownSync(join(place.source, "agent/coder.sock"), ownerUid, ownerUid);
});
afterAll(() => {
  for (const server of servers) server.stop(true);
  place.remove();
});

const start = { type: "start", id: "s", run, model: "debug/script" };
const delta = { type: "delta", id: "d", run, text: "hi" };
const message = {
  type: "message",
  id: "m",
  run,
  role: "assistant",
  content: [{ type: "text", text: "hi" }],
};
const done = (status: string, more = {}) => ({ type: "done", id: "e", run, status, ...more });

describe("ctx agent send", () => {
  test("sends the words, the folder and a fresh id, and streams the answer", async () => {
    script = () => [start, delta, message, done("ok")];
    const { exit, out, err } = await place.ctx(
      "agent",
      "send",
      "coder",
      "two",
      "words",
      "--session",
      "s1",
    );
    expect([exit, out, err]).toEqual([0, "hi\n", ""]);
    expect(requests.at(-1)).toEqual({
      op: "send",
      id: expect.stringMatching(/^ctx-send-/),
      session: "s1",
      scope: "private",
      input: "two words",
      workspace: place.work,
    });
  });

  test("takes standard input, no workspace, a cwd, an id and the short form", async () => {
    script = () => [start, message, done("ok")];
    const argv = [
      "ctx",
      "send",
      "-",
      "--no-workspace",
      "--cwd",
      "/home/agent",
      "--id",
      "one",
      "--scope",
      "temp",
    ];
    expect((await place.run(argv, { input: "from\nstdin" })).exit).toBe(0);
    expect(requests.at(-1)).toEqual({
      op: "send",
      id: "one",
      session: "default",
      scope: "temp",
      input: "from\nstdin",
      cwd: "/home/agent",
    });
  });

  test("the exit status follows how the run ended", async () => {
    const cases: [readonly unknown[], number, string][] = [
      [[start, done("error", { code: "EHOSTDOWN" })], 1, "[EHOSTDOWN]"],
      [[start, done("cancelled")], 130, "cancelled"],
      [[start, done("interrupted")], 1, "[interrupted]"],
      [
        [{ type: "error", id: "0", code: "busy", message: "the queue is full" }],
        69,
        "the queue is full [busy]",
      ],
      [
        [{ type: "error", id: "0", code: "request_conflict", message: "used" }],
        2,
        "[request_conflict]",
      ],
      [[start, delta], 69, "[EHOSTDOWN]"],
    ];
    for (const [frames, exit, text] of cases) {
      script = () => frames;
      const ended = await place.ctx("agent", "send", "coder", "x");
      expect([text, ended.exit, ended.err]).toEqual([text, exit, expect.stringContaining(text)]);
    }
  });

  test("--raw prints frames and --json one summary", async () => {
    script = () => [start, delta, message, done("ok")];
    const raw = await place.ctx("agent", "send", "coder", "x", "--raw");
    expect(
      raw.out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([start, delta, message, done("ok")]);
    const json = await place.ctx("agent", "send", "coder", "x", "--json");
    expect(JSON.parse(json.out)).toMatchObject({
      run,
      status: "ok",
      text: "hi",
      session: "default",
    });
  });

  test("Ctrl-C asks to cancel the run and leaves with 130", async () => {
    script = () => [start];
    const cancelled = Promise.withResolvers<void>();
    const waiting = Promise.withResolvers<void>();
    servers.at(-1)?.stop(true);
    const socket = join(place.source, "agent/coder.sock");
    let finish: (() => void) | undefined;
    const server = Bun.listen({
      unix: socket,
      socket: {
        data(peer, chunk) {
          const request = JSON.parse(chunk.toString()) as { op: string; id: string };
          if (request.op === "send") {
            peer.write(`${JSON.stringify(start)}\n`);
            finish = () => {
              peer.write(`${JSON.stringify(done("cancelled"))}\n`);
              peer.end();
            };
            waiting.resolve();
          } else {
            expect(request).toEqual({ op: "cancel", id: run });
            peer.end(`${JSON.stringify(done("cancelled"))}\n`);
            finish?.();
            cancelled.resolve();
          }
        },
      },
    });
    chmodSync(socket, 0o666);
    servers.push(server);
    const child = place.spawn(["ctx", "agent", "send", "coder", "x", "--raw"]);
    await waiting.promise;
    const reader = child.stdout.getReader();
    // The run is known to the client once it has printed the frame that names it.
    expect(new TextDecoder().decode((await reader.read()).value)).toContain(run);
    child.kill("SIGINT");
    await cancelled.promise;
    expect(await child.exited).toBe(130);
  });

  test("without a server and with --no-start it says how to start one", async () => {
    const env = { CTX_RUNTIME_DIR: join(place.base, "elsewhere") };
    const { exit, err } = await place.run(["ctx", "agent", "send", "coder", "x", "--no-start"], {
      env,
    });
    expect([exit, err]).toEqual([
      69,
      expect.stringMatching(/\[EHOSTDOWN\]\n {2}hint: start it with ctxd serve\n$/),
    ]);
  });

  test("bad input is refused before anything is sent", async () => {
    const before = requests.length;
    const cases = [
      ["coder", "   "],
      ["coder", "x", "--session", "index"],
      ["coder", "x", "--scope", "world"],
      ["coder", "x", "--id", ""],
      ["coder", "x", "--workspace", "/etc/passwd"],
      ["coder", "x", "--workspace", "/tmp", "--no-workspace"],
      ["..", "x"],
    ];
    for (const argv of cases)
      expect([argv, (await place.ctx("agent", "send", ...argv)).exit]).toEqual([argv, 2]);
    expect(requests.length).toBe(before);
  });
});
