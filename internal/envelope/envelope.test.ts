import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  contextBytesMax,
  decodeInvocationLine,
  decodeStepFrame,
  encodeInvocation,
  encodeStepFrame,
  envelopeLineBytesMax,
  type Invocation,
  RunCalls,
  runCallsMax,
  runStartsMax,
  StepReader,
  stepOutputBytesMax,
} from "./mod.ts";

const first: Invocation = {
  schema: "cortexfs.agent-invocation/v1",
  run: "run-1",
  step: 0,
  input: "hello",
  history_messages: "[]",
  tool_context: "",
  observation: null,
};

const bytes = (text: string) => new TextEncoder().encode(text);
const message = `{"type":"message","role":"assistant","content":[{"type":"text","text":"hi"}]}\n`;

const coded = (code: string, text: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(text) });

describe("an invocation", () => {
  test("is one JSON object and one newline with the members in the order of the contract", () => {
    const shuffled = Object.fromEntries(Object.entries(first).reverse()) as unknown as Invocation;
    const line = encodeInvocation(shuffled);
    expect(line).toBe(
      `{"schema":"cortexfs.agent-invocation/v1","run":"run-1","step":0,"input":"hello","history_messages":"[]","tool_context":"","observation":null}\n`,
    );
    expect(decodeInvocationLine(line.slice(0, -1))).toEqual({ ok: true, invocation: first });
  });

  test("that does not fit is not sent", () => {
    const long = "x".repeat(contextBytesMax + 1);
    expect(() => encodeInvocation({ ...first, tool_context: long })).toThrow(
      coded("EMSGSIZE", "tool_context"),
    );
    // Within its own bound, but six bytes a character once it is escaped.
    expect(() => encodeInvocation({ ...first, input: "\u0001".repeat(200_000) })).toThrow(
      coded("EMSGSIZE", `${envelopeLineBytesMax} bytes`),
    );
    expect(() => encodeInvocation({ ...first, step: 1 })).toThrow(coded("EINVAL", "observation"));
  });

  test("is no frame, and a frame is no invocation", () => {
    expect(decodeStepFrame(JSON.stringify(first))).toMatchObject({ ok: false, code: "EINVAL" });
    expect(decodeInvocationLine(message.slice(0, -1))).toMatchObject({
      ok: false,
      path: "/schema",
    });
  });

  test("comes back from its line as it was", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 40 });
    const id = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 20 })
      .filter((one) => !one.includes("\0"));
    fc.assert(
      fc.property(
        id,
        fc.integer({ min: 1, max: 8 }),
        text,
        text,
        fc.boolean(),
        (run, step, a, b, cut) => {
          const observation = {
            tool_call_id: run,
            name: "fs.read",
            status: "ok",
            content: a,
            truncated: cut,
          } as const;
          const invocation = { ...first, run, step, input: b, history_messages: a, observation };
          const line = encodeInvocation(invocation);
          expect(decodeInvocationLine(line.slice(0, -1))).toEqual({ ok: true, invocation });
        },
      ),
    );
  });
});

describe("a frame", () => {
  test("keeps the order of its arguments and names that look special", () => {
    const line = `{"type":"tool_call","id":"a","name":"tsh","args":{"z":1,"__proto__":{"a":[]},"b":null}}`;
    const decoded = decodeStepFrame(line);
    if (!decoded.ok) throw new Error(decoded.message);
    expect(encodeStepFrame(decoded.frame)).toBe(`${line}\n`);
  });
});

describe("a step's output", () => {
  test("comes out frame by frame, the call only at the end", () => {
    const reader = new StepReader(new RunCalls("run-1"));
    const delta = { type: "delta", text: "hi" } as const;
    const call = { type: "tool_call", id: "a", name: "tsh", args: {} } as const;
    expect(reader.push(bytes(encodeStepFrame(delta)))).toEqual([delta]);
    expect(reader.push(bytes(encodeStepFrame(call)))).toEqual([]);
    expect(reader.end()).toEqual({ kind: "call", call, text: "" });
  });

  test("is over after the first failure, which is the one that is told", () => {
    const reader = new StepReader(new RunCalls("run-1"));
    expect(reader.push(bytes(`${message}oops\n${message}`))).toHaveLength(1);
    const said = 'line is not valid JSON: "oops"';
    expect(reader.failure).toMatchObject({ code: "EINVAL", message: said });
    expect(reader.push(bytes(message))).toEqual([]);
    expect(reader.push(bytes("x".repeat(stepOutputBytesMax)))).toEqual([]);
    expect(reader.end({ status: 1 })).toMatchObject({ kind: "error", code: "EINVAL" });
  });

  test("past its bound is kept no longer than the bound", () => {
    const reader = new StepReader(new RunCalls("run-1"));
    const chunk = bytes(message.repeat(5000));
    let frames = 0;
    for (let count = 0; count < 200; count++) frames += reader.push(chunk).length;
    expect(frames).toBe(Math.floor(stepOutputBytesMax / message.length));
    expect(reader.end()).toMatchObject({ kind: "error", code: "EMSGSIZE" });
  });

  test("gives one outcome for any bytes in any pieces", () => {
    const piece = fc.oneof(
      fc.constantFrom(message, `{"type":"delta","text":"a"}\n`, "\n", "{", `"`, "é"),
      fc.constantFrom(`{"type":"tool_call","id":"a","name":"tsh","args":{}}\n`),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.integer({ min: 1, max: 40 }),
        (parts, size) => {
          const all = bytes(parts.join(""));
          const whole = new StepReader(new RunCalls("run-1"));
          const cut = new StepReader(new RunCalls("run-1"));
          const frames = whole.push(all);
          const pieces = [];
          for (let at = 0; at < all.length; at += size)
            pieces.push(...cut.push(all.subarray(at, at + size)));
          expect(pieces).toEqual(frames);
          expect(cut.end()).toEqual(whole.end());
        },
      ),
    );
  });
});

describe("the calls of a run", () => {
  test("are eight, in nine starts", () => {
    expect([runCallsMax, runStartsMax]).toEqual([8, 9]);
    expect(() => new RunCalls("run-1", 9)).toThrow(RangeError);
  });

  test("use up their ids even when nothing comes of them", () => {
    const calls = new RunCalls("run-1");
    expect(calls.admit("a")).toBeUndefined();
    expect(calls.admit("a")).toMatchObject({ code: "EALREADY" });
    for (const id of "bcdefgh") expect(calls.admit(id)).toBeUndefined();
    expect(calls.admit("i")).toMatchObject({ code: "EMSGSIZE" });
    expect(calls.admit("h")).toMatchObject({ code: "EALREADY" });
  });
});
