import { describe, expect, test } from "bun:test";
import { encodeFrame, type OpFrame, requestDigestInput, type SendRequest } from "./mod.ts";

const frames: readonly [OpFrame, string][] = [
  [
    { queued: true, model: "debug/echo", run: "r", seq: 3, id: "a", type: "start" },
    '{"type":"start","id":"a","seq":3,"run":"r","model":"debug/echo","queued":true}',
  ],
  [
    { text: "t", run: "r", id: "a", type: "delta" },
    '{"type":"delta","id":"a","run":"r","text":"t"}',
  ],
  [
    { type: "reasoning_delta", text: "t", id: "a", run: "r" },
    '{"type":"reasoning_delta","id":"a","run":"r","text":"t"}',
  ],
  [
    {
      content: [{ type: "text", text: "a\nb" }],
      role: "assistant",
      run: "r",
      seq: 4,
      id: "a",
      type: "message",
    },
    '{"type":"message","id":"a","seq":4,"run":"r","role":"assistant","content":[{"type":"text","text":"a\\nb"}]}',
  ],
  [
    { args: { path: "x" }, name: "fs.read", run: "r", id: "call-5", seq: 5, type: "tool_call" },
    '{"type":"tool_call","id":"call-5","seq":5,"run":"r","name":"fs.read","args":{"path":"x"}}',
  ],
  [
    {
      truncated: false,
      content: "no",
      code: "EACCES",
      status: "error",
      name: "fs.read",
      run: "r",
      seq: 6,
      id: "call-5",
      type: "tool_result",
    },
    '{"type":"tool_result","id":"call-5","seq":6,"run":"r","name":"fs.read","status":"error","code":"EACCES","content":"no","truncated":false}',
  ],
  [
    { text: "t", id: "call-5", run: "r", type: "tool_delta" },
    '{"type":"tool_delta","id":"call-5","run":"r","text":"t"}',
  ],
  [
    { output_tokens: 2, input_tokens: 1, run: "r", id: "a", seq: 7, type: "usage" },
    '{"type":"usage","id":"a","seq":7,"run":"r","input_tokens":1,"output_tokens":2}',
  ],
  [
    {
      updated_at: "2026-01-01T00:00:00.000Z",
      model: null,
      step: 0,
      run: null,
      phase: "idle",
      status: "idle",
      session: "s",
      id: "a",
      type: "status",
    },
    '{"type":"status","id":"a","session":"s","status":"idle","phase":"idle","run":null,"step":0,"model":null,"updated_at":"2026-01-01T00:00:00.000Z"}',
  ],
  [
    { message: "m", code: "EINVAL", id: "", type: "error" },
    '{"type":"error","id":"","code":"EINVAL","message":"m"}',
  ],
  [
    { code: "ECANCELED", status: "cancelled", run: "r", seq: 8, id: "a", type: "done" },
    '{"type":"done","id":"a","seq":8,"run":"r","status":"cancelled","code":"ECANCELED"}',
  ],
  [{ id: "p", type: "pong" }, '{"type":"pong","id":"p"}'],
];

describe("encodeFrame()", () => {
  test.each(frames)("%j has one spelling, whatever order it was built in", (frame, line) => {
    expect(encodeFrame(frame)).toBe(`${line}\n`);
    const reversed = Object.fromEntries(Object.entries(frame).reverse()) as unknown as OpFrame;
    expect(encodeFrame(reversed)).toBe(`${line}\n`);
  });

  test("keeps one frame on one line, whatever the text holds", () => {
    const text = "a\nb\r\0\u2028\ud800";
    const line = encodeFrame({ type: "delta", id: "a", run: "r", text });
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(new TextEncoder().encode(line)).not.toContain(0);
    expect(JSON.parse(line)).toEqual({ type: "delta", id: "a", run: "r", text });
  });
});

describe("requestDigestInput()", () => {
  const request: SendRequest = {
    op: "send",
    id: "a",
    session: "default",
    scope: { kind: "private" },
    input: "hello",
    cwd: "/workspace",
    workspace: undefined,
  };

  test("has one spelling that leaves the id out", () => {
    const text = '["send","hello","default","private","/workspace",null]';
    expect(requestDigestInput(request)).toBe(text);
    expect(requestDigestInput({ ...request, id: "b" })).toBe(text);
  });

  test("differs when any other field differs", () => {
    const others: SendRequest[] = [
      { ...request, input: "hello " },
      { ...request, session: "other" },
      { ...request, scope: { kind: "temp" } },
      { ...request, scope: { kind: "shared", space: "private" } },
      { ...request, cwd: undefined },
      { ...request, cwd: "/" },
      { ...request, workspace: "/workspace" },
    ];
    const texts = new Set([request, ...others].map(requestDigestInput));
    expect(texts.size).toBe(others.length + 1);
  });
});
