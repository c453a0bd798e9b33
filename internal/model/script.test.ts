import { expect, test } from "bun:test";
import fc from "fast-check";
import { CodedError } from "../abi/mod.ts";
import { echoClient, scriptClient } from "./debug.ts";
import { scriptStep } from "./script.ts";
import type { ModelEvent, ModelMessage } from "./types.ts";

const user = (text: string): ModelMessage => ({ role: "user", text });
const result = (content: string): ModelMessage => ({
  role: "tool",
  call: "call-1",
  name: "x",
  status: "ok",
  content,
});
const step = (...messages: ModelMessage[]) => [...scriptStep(messages)];

function textOf(events: readonly { type: string; text?: string }[]): string {
  return events.map((event) => (event.type === "delta" ? (event.text ?? "") : "")).join("");
}

async function collect(events: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

test("a message without directives is answered with its text", () => {
  expect(step(user("hello"))).toEqual([
    { type: "delta", text: "script: hello" },
    { type: "finish" },
  ]);
});

test("a call ends the step and the next step goes on after it", () => {
  const script = user('intro\n@say one\n@call fs.read {"path":"a"}\n@say two\n@result');
  expect(step(script)).toEqual([
    { type: "delta", text: "one" },
    { type: "call", id: "script-1", name: "fs.read", args: { path: "a" }, raw: '{"path":"a"}' },
    { type: "finish" },
  ]);
  expect(textOf(step(script, result("found")))).toBe("two\nfound");
});

test("only results since the last user message count", () => {
  const script = user("@call tsh\n@say end");
  expect(textOf(step(user("@call tsh"), result("old"), script))).toBe("");
  expect(textOf(step(user("@call tsh"), result("old"), script, result("new")))).toBe("end");
});

test("several calls in one step are answered together", () => {
  const script = user('@calls [["a",{}],["b",{"x":1}]]\n@call c\n@say end');
  expect(step(script).map((event) => event.type)).toEqual(["call", "call", "finish"]);
  const second = step(script, result("1"), result("2"));
  expect(second[0]).toMatchObject({ type: "call", id: "script-3", name: "c" });
  expect(textOf(step(script, result("1"), result("2"), result("3")))).toBe("end");
});

test("a script that ended with a call says so", () => {
  expect(textOf(step(user("@call tsh"), result("x")))).toBe("script: done");
});

test("a step of usage alone answers nothing", () => {
  expect(step(user("@usage 3 4"))).toEqual([
    { type: "usage", inputTokens: 3, outputTokens: 4 },
    { type: "finish" },
  ]);
});

test("broken arguments travel as they are", () => {
  expect(step(user("@bad-args fs.read {path:"))[0]).toEqual({
    type: "call",
    id: "script-1",
    name: "fs.read",
    args: undefined,
    raw: "{path:",
  });
});

test("repeat streams exactly its bytes in bounded deltas", () => {
  const events = step(user("@repeat 10000 aé😀"));
  expect(textOf(events)).toBe("aé😀".repeat(10000));
  for (const event of events) {
    if (event.type === "delta") expect(event.text.length).toBeLessThanOrEqual(4097);
  }
});

test.each([
  ["@unknown", 1],
  ["ok\n@call", 2],
  ["@say a\n\n@call x {", 3],
  ["@call x [1]", 1],
  ["@calls []", 1],
  ['@calls [["a"]]', 1],
  ["@delay 60001", 1],
  ["@delay -1", 1],
  ["@delay", 1],
  ["@repeat 99999999 xx", 1],
  ["@error NOPE text", 1],
  ["@usage 1", 1],
  ["@result now", 1],
  ["@", 1],
])("%j is malformed on line %d", (text, line) => {
  let thrown: unknown;
  try {
    step(user(text));
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(CodedError);
  expect((thrown as CodedError).code).toBe("EINVAL");
  expect((thrown as CodedError).message).toStartWith(`script line ${line} is malformed: `);
});

test("the client throws a scripted error after what came before it", async () => {
  const events: ModelEvent[] = [];
  const stream = scriptClient("debug/script", undefined).stream({
    messages: [user("@say a\n@error EHOSTDOWN no server")],
    tools: [],
    signal: new AbortController().signal,
  });
  const reading = (async () => {
    for await (const event of stream) events.push(event);
  })();
  expect(reading).rejects.toMatchObject({ code: "EHOSTDOWN", message: "no server" });
  await reading.catch(() => {});
  expect(events).toEqual([{ type: "delta", text: "a" }]);
});

test("a cancel ends a delay at once", async () => {
  const controller = new AbortController();
  const stream = scriptClient("debug/script", undefined).stream({
    messages: [user("@delay 60000\n@say late")],
    tools: [],
    signal: controller.signal,
  });
  const reading = collect(stream);
  controller.abort();
  expect(await reading.catch((error: unknown) => error)).toMatchObject({ code: "ECANCELED" });
});

test("echo repeats the last user message whatever it is", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 900 }), async (text) => {
      const events = await collect(
        echoClient("debug/echo", undefined).stream({
          messages: [user("before"), user(text)],
          tools: [],
          signal: new AbortController().signal,
        }),
      );
      expect(textOf(events)).toBe(text);
    }),
    { numRuns: 50 },
  );
});
