import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import type { SessionFrame } from "../interaction/mod.ts";
import { decodeV1Line, judgeV1, V1Encoder, v1Abi } from "./mod.ts";
import { nestingMax } from "./op-rules.ts";

const folder = resolve(import.meta.dir, "../../abi/interaction/v1");

const request = (value: object) =>
  JSON.stringify({ abi: v1Abi, payload: { direction: "request", value } });

const input = {
  type: "input",
  request_id: "r-1",
  session: "s",
  scope: "private",
  input: "hello",
  origin: { transport: "test", endpoint: null },
};

describe("decodeV1Line()", () => {
  test("an input is a send under the same id, with where it came from", () => {
    const more = { event: { a: 1 }, cwd: "/a", scope: "shared", shared: "team" };
    expect(decodeV1Line(request({ ...input, ...more }))).toEqual({
      ok: true,
      request: {
        kind: "ask",
        requestId: "r-1",
        session: "s",
        request: {
          op: "send",
          id: "r-1",
          session: "s",
          scope: { kind: "shared", space: "team" },
          input: "hello",
          cwd: "/a",
          workspace: undefined,
          origin: { transport: "test" },
          event: { a: 1 },
        },
      },
    });
  });

  test("resume, status, cancel and a command's result", () => {
    const requestId = "q";
    const scope = { kind: "private" } as const;
    const asked = (value: object): unknown => {
      const decoded = decodeV1Line(request({ request_id: requestId, ...value }));
      return decoded.ok ? decoded.request : decoded.message;
    };
    expect(asked({ type: "resume", session: "s", after: 12 })).toEqual({
      ...{ kind: "ask", requestId, session: "s" },
      request: { op: "resume", session: "s", scope, after: "12" },
    });
    expect(asked({ type: "status", session: "s", scope: "temp" })).toEqual({
      ...{ kind: "ask", requestId, session: "s" },
      request: { op: "status", session: "s", scope: { kind: "temp" } },
    });
    expect(asked({ type: "cancel", run: "ctx-1" })).toEqual({
      ...{ kind: "ask", requestId, session: undefined },
      request: { op: "cancel", id: "ctx-1" },
    });
    const result = { type: "rejected", reason: "no" };
    expect(asked({ type: "command_result", session: "s", command_id: "c", result })).toEqual({
      ...{ kind: "command_result", requestId, session: "s", commandId: "c", result },
    });
  });

  test("names the request that it refuses whenever its id can be used", () => {
    const refused = (value: object) => decodeV1Line(request(value));
    expect(refused({ type: "fly", request_id: "q" })).toMatchObject({ requestId: "q" });
    expect(refused({ type: "fly", request_id: "é".repeat(129) })).toMatchObject({ ok: false });
    for (const id of ["", "a\0", "é".repeat(129), 5, null, "\ud800"]) {
      const decoded = refused({ ...input, request_id: id });
      expect([id, decoded]).toEqual([id, expect.objectContaining({ requestId: undefined })]);
    }
    expect(decodeV1Line("{")).toMatchObject({ ok: false, code: "EINVAL", requestId: undefined });
    const event = JSON.stringify({
      abi: v1Abi,
      payload: { direction: "event", value: { type: "done", request_id: "q", status: "ok" } },
    });
    expect(decodeV1Line(event)).toMatchObject({ path: "/payload/direction", requestId: "q" });
  });

  test("never throws, and accepts exactly the requests that the judge accepts", () => {
    const lines = ["accept", "accept-also"].flatMap((of) =>
      readdirSync(join(folder, of)).map((name) => readFileSync(join(folder, of, name), "utf8")),
    );
    const edit = fc.record({ at: fc.nat(400), take: fc.nat(4), text: fc.string({ maxLength: 4 }) });
    fc.assert(
      fc.property(fc.constantFrom(...lines), edit, (line, { at, take, text }) => {
        const mutated = line.slice(0, -1).slice(0, at) + text + line.slice(0, -1).slice(at + take);
        const judged = judgeV1(mutated);
        const decoded = decodeV1Line(mutated);
        if (decoded.ok) expect(judged.ok).toBe(true);
        else if (judged.ok) expect(decoded.path).toBe("/payload/direction");
        else expect(decoded).toMatchObject({ code: judged.code, path: judged.path });
      }),
      { numRuns: 3000 },
    );
  });

  test("an event is bounded in depth before anything follows it", () => {
    const nested = (depth: number) =>
      request({ ...input, event: "@" }).replace(
        '"@"',
        `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
      );
    expect(judgeV1(nested(nestingMax))).toMatchObject({ ok: true });
    expect(judgeV1(nested(nestingMax + 1))).toMatchObject({ by: "rule", code: "EINVAL" });
    expect(judgeV1(nested(150_000))).toMatchObject({ by: "rule", path: "/payload/value/event" });
  });

  test("an event of exactly 64 KiB as compact JSON is taken", () => {
    const sized = (bytes: number) =>
      request({ ...input, event: { a: "é".repeat((bytes - 8) / 2) } });
    expect(judgeV1(sized(65_536))).toMatchObject({ ok: true });
    expect(judgeV1(sized(65_538))).toMatchObject({ code: "EMSGSIZE" });
    // Whitespace is not of the value.
    const spaced = request({ ...input, event: "@" }).replace('"@"', `{"a":${" ".repeat(70_000)}1}`);
    expect(judgeV1(spaced)).toMatchObject({ ok: true });
  });
});

describe("V1Encoder", () => {
  const run = "ctx-1";
  const frames: readonly SessionFrame[] = [
    { type: "start", id: "r-1", seq: 2, run, model: "debug/script", queued: true },
    { type: "started", id: "evt-4", seq: 4, run, model: "debug/script" },
    { type: "delta", id: "evt-4", run, text: "he" },
    { type: "reasoning_delta", id: "evt-4", run, text: "hm" },
    { type: "tool_delta", id: "call-5", run, text: "out" },
    { type: "usage", id: "evt-5", seq: 5, run, input_tokens: 1, output_tokens: 2 },
    { type: "tool_call", id: "call-6", seq: 6, run, name: "fs.read", args: {} },
    {
      type: "approval_request",
      ...{ id: "call-6", seq: 7, run, name: "fs.read", args: { path: "/" }, cwd: "/workspace" },
      ...{ digest: "d", expires_at: "2026-01-01T00:00:00.000Z" },
    },
    {
      type: "tool_result",
      ...{ id: "call-6", seq: 8, run, name: "fs.read", status: "error", content: "x" },
      ...{ code: "ENOENT", truncated: false },
    },
    {
      type: "message",
      ...{ id: "evt-9", seq: 9, run, role: "assistant" },
      content: [
        { type: "text", text: "he" },
        { type: "text", text: "llo" },
      ],
    },
    {
      type: "status",
      ...{ id: "evt-9", session: "s", status: "active", phase: "model", run, step: 1 },
      ...{ model: null, updated_at: "2026-01-01T00:00:00.000Z" },
    },
    { type: "error", id: "0", code: "request_conflict", message: "used" },
    { type: "error", id: "evt-9", seq: 9, run, code: "busy", message: "full" },
    { type: "done", id: "evt-10", seq: 10, run, status: "error", code: "busy" },
    { type: "done", id: "evt-1", status: "ok" },
    { type: "pong", id: "0" },
  ];

  test("gives every frame its event, and none to what v1 has none for", () => {
    const encoder = new V1Encoder("r-1", "s");
    const lines = frames.map((frame) => encoder.encode(frame)).filter((line) => line !== "");
    for (const line of lines) expect([line, judgeV1(line.slice(0, -1)).ok]).toEqual([line, true]);
    const ofRun = { request_id: "r-1", run };
    const tool = { ...ofRun, call_id: "call-6", name: "fs.read" };
    const command = { type: "request_approval", tool: "fs.read", arguments: { path: "/" } };
    const values = lines.map((line) => JSON.parse(line).payload.value);
    expect(values).toEqual([
      { type: "accepted", request_id: "r-1", session: "s", run },
      { type: "started", ...ofRun, model: "debug/script" },
      { type: "delta", ...ofRun, text: "he" },
      { type: "tool", ...tool, state: "running" },
      { type: "command", ...ofRun, command_id: "call-6", command },
      { type: "tool", ...tool, state: "error" },
      { type: "message", ...ofRun, role: "assistant", text: "hello" },
      {
        type: "status",
        ...{ request_id: "r-1", session: "s", status: "active", phase: "model", step: 1 },
      },
      {
        type: "error",
        ...{ request_id: "r-1", code: "EINVAL", message: "used", retryable: false },
      },
      { type: "error", ...ofRun, code: "busy", message: "full", retryable: true },
      { type: "done", ...ofRun, status: "error" },
      { type: "done", request_id: "r-1", status: "ok" },
    ]);
    expect(new Set(values.map(({ type }) => type)).size).toBe(9);
  });
});
