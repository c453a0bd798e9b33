import { afterAll, expect, test } from "bun:test";
import { startModelServer } from "../../testdata/model-server/server.ts";
import { Asking, readTool, said, testKey } from "./asking.ts";
import type { ModelEvent } from "./types.ts";

const server = startModelServer({
  mode: "script",
  key: testKey,
  emptyNames: true,
  fragmentChars: 3,
});
const asking = new Asking(server.baseUrl);
afterAll(() => server.stop());

test("text, reasoning and usage stream through", async () => {
  const { events } = await asking.ask("@reasoning hmm\n@say hello world\n@usage 12 3");
  expect(said(events)).toBe("hello world");
  expect(events.filter((event) => event.type === "delta").length).toBeGreaterThan(2);
  expect(events).toContainEqual({ type: "reasoning", text: "hmm" });
  expect(events.at(-2)).toEqual({ type: "usage", inputTokens: 12, outputTokens: 3 });
  expect(events.at(-1)).toEqual({ type: "finish" });
});

test("the request carries messages, the key and the schema unchanged", async () => {
  await asking.ask("hello");
  const request = server.requests.at(-1);
  expect(request?.headers["authorization"]).toBe(`Bearer ${testKey}`);
  expect(request?.body.messages).toEqual([
    { role: "system", content: "SYS" },
    { role: "user", content: "hello" },
  ]);
  expect(request?.body.tools as unknown).toEqual([
    {
      type: "function",
      function: { name: "fs_read", description: "Read a file", parameters: readTool.schema },
    },
  ]);
});

test("a call survives continuation chunks with empty id and name", async () => {
  const { events } = await asking.ask('@call fs.read {"path":"/workspace/notes.md"}');
  expect(events.filter((event) => event.type === "call")).toEqual([
    {
      type: "call",
      id: "script-1",
      name: "fs.read",
      args: { path: "/workspace/notes.md" },
      raw: '{"path":"/workspace/notes.md"}',
    },
  ]);
});

test("the name on the wire comes back as the tool's own", async () => {
  const { events } = await asking.ask('@call fs_read {"path":"a"}');
  expect(events[0]).toMatchObject({ type: "call", name: "fs.read" });
});

test("several calls of one answer keep their order", async () => {
  const { events } = await asking.ask('@calls [["fs.read",{"path":"a"}],["tsh",{"args":["x"]}]]');
  expect(events.map((event) => (event.type === "call" ? [event.name, event.args] : []))).toEqual([
    ["fs.read", { path: "a" }],
    ["tsh", { args: ["x"] }],
    [],
  ]);
});

test("arguments that are not JSON arrive as they were said", async () => {
  const { events } = await asking.ask("@bad-args fs.read {path:");
  expect(events[0]).toMatchObject({ type: "call", args: undefined, raw: "{path:" });
});

test("tool calls and results go back as the wire wants them", async () => {
  const request = {
    messages: [
      { role: "user", text: '@call fs.read {"path":"a"}\n@result' },
      {
        role: "assistant",
        text: "",
        calls: [{ id: "call-7", name: "fs.read", args: { path: "a" } }],
      },
      { role: "tool", call: "call-7", name: "fs.read", status: "error", content: "no such file" },
    ] as const,
    tools: [readTool],
    signal: new AbortController().signal,
  };
  const events: ModelEvent[] = [];
  for await (const event of asking.client().stream(request)) events.push(event);
  expect(said(events)).toBe("no such file");
  expect(server.requests.at(-1)?.body.messages.slice(1)).toMatchObject([
    { tool_calls: [{ id: "call-7", function: { name: "fs_read", arguments: '{"path":"a"}' } }] },
    { role: "tool", tool_call_id: "call-7", content: "no such file" },
  ]);
});

test("effort and parameters reach the body and replace nothing", async () => {
  await asking.ask("x", {
    effort: "high",
    parameters: { temperature: 0.5, model: "other", seed: 7 },
  });
  expect(server.requests.at(-1)?.body as unknown).toMatchObject({
    model: "test-model",
    reasoning_effort: "high",
    temperature: 0.5,
    seed: 7,
  });
});
