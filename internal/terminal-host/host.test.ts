// Calls in a terminal whose shell is this very process: what is said to it, and what outcome comes of
// what it says. With real sandboxes and the real shell it is tested end to end.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PlayedShell } from "../../testdata/run-socket/shell.ts";
import { answerOf, ask, update } from "../../testdata/run-socket/stage.ts";
import { fail } from "../abi/mod.ts";
import { type CallPlan, type LaunchRequest, type Payload, viewDigest } from "../launch/mod.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";
import { createRunSockets } from "../run-socket/mod.ts";
import { createTerminalHost, type TerminalHost } from "./mod.ts";

const self = processFacts(process.pid) as ProcessStamp;

/** Only what a view's digest and a plan are made of. */
function requestOf(change: Partial<LaunchRequest> = {}): LaunchRequest {
  const controls = { uid: 1, gid: 1, groups: [], root: "/", env: new Map(), path: [], mount: [] };
  return {
    ...{ agent: "coder", session: "default", run: "run-1", scope: { kind: "private" } },
    ...{ home: "/tree/home/1/agent/coder", network: false, visible: [], models: [] },
    controls: { ...controls, label: { type: "coder_t" } },
    tool: { name: "shell.exec" },
    ...change,
  } as unknown as LaunchRequest;
}

let runtime: string;
let host: TerminalHost;
let shell: PlayedShell;
let roots: readonly ProcessStamp[];
let plan: Partial<CallPlan> & { readonly payload?: Payload };
const live: string[] = [];

const folder = () => join(runtime, "terminal");

beforeEach(async () => {
  runtime = mkdtempSync("/tmp/ctx-terminal-host-");
  mkdirSync(folder());
  roots = [self];
  plan = {};
  live.length = 0;
  const sockets = createRunSockets({ runtime, roots: () => [] });
  host = createTerminalHost({
    sockets,
    tree: {} as never,
    server: {} as never,
    call: async ({ id }, { request_id, name }) => ({
      ...{ request_id, ok: true },
      result: { status: "ok", content: `${name} for ${id}` },
    }),
    planner: {
      planCall: () => ({
        payload: commandPayload({}),
        ...{ cwd: "/workspace", env: { CTX_RUN_ID: "run-1" }, gitEntries: () => new Map() },
        ...plan,
      }),
    },
    word: async () => "",
  });
  host.open({
    ...{ id: "terminal-coder-default", agent: "coder", session: "default" },
    ...{ scope: { kind: "private" }, peerUid: process.getuid?.() ?? 0, folder: folder() },
    roots: () => roots,
    viewDigest: viewDigest(requestOf()),
  });
  shell = await PlayedShell.connect(folder());
});

afterEach(async () => {
  shell.end();
  await host.closeAll();
  rmSync(runtime, { recursive: true, force: true });
});

function commandPayload(change: Partial<Payload>): Payload {
  const usual = { kind: "command", program: ["/bin/sh", "-c", "true"], stdin: undefined } as const;
  return { ...usual, combined: true, timeoutMs: 60_000, ...change };
}

const served = { request_id: expect.any(String), ok: true };

function run(change: Partial<LaunchRequest> = {}, signal = new AbortController().signal) {
  return host.run(requestOf(change), ["shell.exec", "true"], {
    signal,
    onOutput: (text) => live.push(text),
  });
}

describe("a call in a terminal", () => {
  test("is said as it is to be run, and its outcome is that of a sandbox of its own", async () => {
    expect(await shell.offer()).toEqual(served);
    const outcome = run();
    const call = await shell.call();
    expect(call).toEqual({
      ...{ type: "call", id: call.id, run: "run-1", line: ["shell.exec", "true"] },
      ...{ kind: "command", program: ["/bin/sh", "-c", "true"], combined: true },
      ...{ env: { CTX_RUN_ID: "run-1" }, cwd: "/workspace", timeout_ms: 60_000 },
    });
    shell.say({ type: "begin", id: call.id });
    shell.print(call.id, "one\ntw");
    shell.print(call.id, "o");
    shell.say({ type: "end", id: call.id, exit: 3 });
    const usual = { dropped: 0, newGit: [] };
    expect(await outcome).toEqual({
      ...{ status: "ok", output: "one\ntwo\n[exit 3]\n", exit: 3 },
      ...usual,
    });
    expect(live.join("")).toBe("one\ntwo");
  });

  test("of a native tool gets its input, and its answer is taken apart", async () => {
    const stdin = new TextEncoder().encode('{"path":"é"}\n');
    plan = { payload: commandPayload({ kind: "native", stdin, combined: false }) };
    await shell.offer();
    const outcome = run();
    const { id, stdin: input } = await shell.call();
    expect(input).toBe('{"path":"é"}\n');
    shell.say({ type: "begin", id });
    shell.print(id, "noise", "stderr");
    shell.print(id, '{"type":"result","status":"error","content":"no","code":"ENOENT"}\n');
    shell.say({ type: "end", id, exit: 0 });
    expect(await outcome).toMatchObject({ status: "error", code: "ENOENT", output: "no" });
    expect(live).toEqual([]);
  });

  test("keeps the first and the last part of what it prints, also of what the shell left out", async () => {
    await shell.offer();
    const outcome = run();
    const { id } = await shell.call();
    shell.say({ type: "begin", id });
    shell.print(id, "first\n");
    const data = Buffer.from("last\n").toString("base64");
    shell.say({ type: "output", id, stream: "stdout", data, dropped: 1000 });
    shell.say({ type: "end", id, exit: 0 });
    expect(await outcome).toMatchObject({
      dropped: 1000,
      output: "first\n\n[1000 bytes dropped here]\nlast\n[exit 0]\n",
    });
  });

  test("that is cancelled is said to the shell, and is over when the shell says so", async () => {
    await shell.offer();
    const controller = new AbortController();
    const outcome = run({}, controller.signal);
    const { id } = await shell.call();
    shell.say({ type: "begin", id });
    shell.print(id, "half");
    controller.abort();
    expect(await shell.next()).toEqual({ type: "cancel", id, reason: "cancelled" });
    shell.say({ type: "end", id, exit: null, signal: 15, stopped: "cancelled" });
    expect(await outcome).toMatchObject({
      ...{ status: "error", code: "ECANCELED", exit: undefined },
      output: "half\n[stopped: cancelled]\n",
    });
  });

  test("that a person stops, or that cannot be started, says so", async () => {
    await shell.offer();
    const stopped = run();
    const first = await shell.call();
    shell.say({ type: "begin", id: first.id });
    shell.say({ type: "end", id: first.id, exit: null, stopped: "cancelled" });
    const because = "[stopped: cancelled at the terminal]\n";
    expect(await stopped).toMatchObject({ code: "ECANCELED", output: because });
    const unstarted = run();
    const second = await shell.call();
    shell.say({ type: "end", id: second.id, exit: null, message: "tsh: no such program" });
    expect(await unstarted).toMatchObject({ output: "tsh: no such program\n[exit 127]\n" });
  });

  test("behind a program in the foreground ends with its time", async () => {
    plan = { payload: commandPayload({ timeoutMs: 20 }) };
    await shell.offer();
    const outcome = run();
    const { id } = await shell.call();
    expect(await shell.next()).toEqual({ type: "cancel", id, reason: "timeout" });
    shell.say({ type: "end", id, exit: null, stopped: "timeout" });
    expect(await outcome).toMatchObject({
      code: "ETIMEDOUT",
      output: expect.stringContaining("foreground"),
    });
  });

  test("is lost with the terminal, and never run again", async () => {
    await shell.offer();
    const outcome = run();
    const { id } = await shell.call();
    shell.say({ type: "begin", id });
    shell.print(id, "half");
    shell.end();
    expect(await outcome).toMatchObject({
      ...{ status: "error", code: "EHOSTDOWN", exit: undefined },
      output: expect.stringMatching(/^half\n\[lost: /),
    });
  });

  test("finds the shell that comes back after its host was another", async () => {
    const outcome = run();
    expect(await shell.offer()).toEqual(served);
    const { id } = await shell.call();
    shell.say({ type: "begin", id }, { type: "end", id, exit: 0 });
    expect(await outcome).toMatchObject({ status: "ok" });
  });

  test("of another session or view is for a sandbox of its own, with a line that says so", async () => {
    await shell.offer();
    expect(await run({ session: "other" })).toBeUndefined();
    expect(await run({ scope: { kind: "temp" } })).toBeUndefined();
    expect(await run({ network: true })).toBeUndefined();
    const note = await shell.next();
    expect(note).toEqual({
      type: "note",
      text: expect.stringMatching(/^shell\.exec runs in a sandbox of its own: /),
    });
    expect([host.serves(requestOf()), host.serves(requestOf({ session: "other" }))]).toEqual([
      true,
      false,
    ]);
  });

  test("whose input does not fit a line is for a sandbox of its own", async () => {
    const stdin = new TextEncoder().encode(`{"a":"${'\\"'.repeat(300_000)}"}\n`);
    plan = { payload: commandPayload({ kind: "native", stdin }) };
    await shell.offer();
    expect(await run()).toBeUndefined();
    expect(await shell.next()).toMatchObject({ text: expect.stringContaining("too long") });
  });

  test("that a launch would be refused is refused, and said to nobody", async () => {
    await shell.offer();
    plan = {
      get payload(): Payload {
        return fail("EACCES", 'folder "/x" is not seen', { hint: "look" });
      },
    };
    const refused = { status: "error", code: "EACCES", output: 'folder "/x" is not seen (look)' };
    expect(await run()).toMatchObject(refused);
    plan = {};
    void run();
    expect(await shell.call()).toMatchObject({ type: "call" });
  });
});

describe("a program that is not the shell", () => {
  test("is told that another one serves, and gets no call", async () => {
    await shell.offer();
    const other = await PlayedShell.connect(folder());
    expect(await other.offer()).toMatchObject({ ok: false, code: "busy" });
    void run();
    expect(await shell.call()).toMatchObject({ type: "call" });
    other.say({ type: "begin", id: "call-1" });
    expect(await answerOf(other.connection)).toMatchObject({ ok: false, code: "EINVAL" });
    other.end();
  });

  test("that serves and breaks the rules is cut off; the call that it had is lost, the next is not", async () => {
    await shell.offer();
    const outcome = run();
    const { id } = await shell.call();
    shell.say({ type: "begin", id }, { type: "begin", id: "call-7" });
    expect(await outcome).toMatchObject({ code: "EHOSTDOWN" });
    const other = await PlayedShell.connect(folder());
    expect(await other.offer()).toEqual(served);
    void run();
    expect(await other.call()).toMatchObject({ type: "call" });
    other.end();
  });

  test("may ask a terminal nothing that a run is asked", async () => {
    expect(await ask(shell.connection, update("u1"))).toMatchObject({ code: "EACCES" });
    const use = { op: "model.use", request_id: "m1", model: "debug/echo" };
    const messages = [{ role: "user", content: "hi" }];
    expect(await ask(shell.connection, { ...use, messages })).toMatchObject({ code: "EACCES" });
    expect(await shell.offer()).toEqual(served);
  });

  test("of another terminal or of none is not let in", async () => {
    roots = [{ ...self, startTime: `${Number(self.startTime) + 1}` }];
    const stranger = await PlayedShell.connect(folder());
    expect(await stranger.offer()).toMatchObject({ ok: false, code: "EACCES" });
    stranger.end();
    const other = await PlayedShell.connect(folder());
    const word = { op: "tsh", request_id: "w1", args: ["loads"] };
    expect(await ask(other.connection, word)).toMatchObject({ request_id: null, code: "EACCES" });
    other.end();
  });
});
