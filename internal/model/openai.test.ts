import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ModelServer, startModelServer } from "../../testdata/model-server/server.ts";
import { CodedError } from "../abi/mod.ts";
import { modelAttemptsMax, type OpenaiOptions, openaiClient } from "./openai.ts";
import type { ModelEvent, ModelTool } from "./types.ts";

const key = "sk-test-0123456789abcdef";
let server: ModelServer;

beforeAll(() => {
  server = startModelServer({ mode: "script", key, emptyNames: true, fragmentChars: 3 });
});
afterAll(() => server.stop());

const schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  type: "object",
  properties: { path: { type: "string", description: "where" } },
  required: ["path"],
  additionalProperties: false,
};
const readTool: ModelTool = { name: "fs.read", description: "Read a file", schema };

function client(change: Partial<OpenaiOptions> = {}) {
  return openaiClient({
    name: "test/model",
    provider: "test",
    model: "test-model",
    baseUrl: server.baseUrl,
    key,
    limit: undefined,
    effort: undefined,
    backoffMs: 1,
    ...change,
  });
}

async function ask(
  text: string,
  change: Partial<OpenaiOptions> = {},
  signal = new AbortController().signal,
): Promise<{ events: ModelEvent[]; error: CodedError | undefined }> {
  const events: ModelEvent[] = [];
  try {
    const request = {
      messages: [
        { role: "system", text: "SYS" },
        { role: "user", text },
      ] as const,
      tools: [readTool],
      signal,
    };
    for await (const event of client(change).stream(request)) events.push(event);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return { events, error };
  }
  return { events, error: undefined };
}

const said = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.type === "delta" ? event.text : "")).join("");

test("text, reasoning and usage stream through", async () => {
  const { events } = await ask("@reasoning hmm\n@say hello world\n@usage 12 3");
  expect(said(events)).toBe("hello world");
  expect(events.filter((event) => event.type === "delta").length).toBeGreaterThan(2);
  expect(events).toContainEqual({ type: "reasoning", text: "hmm" });
  expect(events.at(-2)).toEqual({ type: "usage", inputTokens: 12, outputTokens: 3 });
  expect(events.at(-1)).toEqual({ type: "finish" });
});

test("the request carries messages, the key and the schema unchanged", async () => {
  await ask("hello");
  const request = server.requests.at(-1);
  expect(request?.headers["authorization"]).toBe(`Bearer ${key}`);
  expect(request?.body.messages).toEqual([
    { role: "system", content: "SYS" },
    { role: "user", content: "hello" },
  ]);
  expect(request?.body.tools as unknown).toEqual([
    {
      type: "function",
      function: { name: "fs_read", description: "Read a file", parameters: schema },
    },
  ]);
});

test("a call survives continuation chunks with empty id and name", async () => {
  const { events } = await ask('@call fs.read {"path":"/workspace/notes.md"}');
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
  const { events } = await ask('@call fs_read {"path":"a"}');
  expect(events[0]).toMatchObject({ type: "call", name: "fs.read" });
});

test("several calls of one answer keep their order", async () => {
  const { events } = await ask('@calls [["fs.read",{"path":"a"}],["tsh",{"args":["x"]}]]');
  expect(events.map((event) => (event.type === "call" ? [event.name, event.args] : []))).toEqual([
    ["fs.read", { path: "a" }],
    ["tsh", { args: ["x"] }],
    [],
  ]);
});

test("arguments that are not JSON arrive as they were said", async () => {
  const { events } = await ask("@bad-args fs.read {path:");
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
  for await (const event of client().stream(request)) events.push(event);
  expect(said(events)).toBe("no such file");
  expect(server.requests.at(-1)?.body.messages.slice(1)).toMatchObject([
    { tool_calls: [{ id: "call-7", function: { name: "fs_read", arguments: '{"path":"a"}' } }] },
    { role: "tool", tool_call_id: "call-7", content: "no such file" },
  ]);
});

test("effort and parameters reach the body and replace nothing", async () => {
  await ask("x", { effort: "high", parameters: { temperature: 0.5, model: "other", seed: 7 } });
  expect(server.requests.at(-1)?.body as unknown).toMatchObject({
    model: "test-model",
    reasoning_effort: "high",
    temperature: 0.5,
    seed: 7,
  });
});

test.each([
  [401, "EACCES"],
  [403, "EACCES"],
  [404, "ENOENT"],
  [400, "EINVAL"],
  [422, "EINVAL"],
  [413, "EMSGSIZE"],
  [302, "EINVAL"],
])("status %d is %s and is not tried again", async (status, code) => {
  const before = server.count();
  server.inject({ kind: "status", status });
  const { error, events } = await ask("hello");
  expect(error?.code).toBe(code as CodedError["code"]);
  expect(events).toEqual([]);
  expect(server.count() - before).toBe(1);
});

test("a refused key says how to store one", async () => {
  const { error } = await ask("hello", { key: "sk-wrong-key-000000" });
  expect(error?.hint).toContain("ctx auth login test");
});

test("a prompt that is too long is EMSGSIZE whatever the status", async () => {
  const body = JSON.stringify({
    error: { message: "This model's maximum context length is 4096" },
  });
  server.inject({ kind: "status", status: 400, body });
  expect((await ask("hello")).error?.code).toBe("EMSGSIZE");
});

test.each([429, 500, 503, 529])("status %d is tried again", async (status) => {
  server.inject({ kind: "status", status }, { kind: "status", status });
  const { events, error } = await ask("@say after all");
  expect(error).toBeUndefined();
  expect(said(events)).toBe("after all");
});

test("attempts are bounded", async () => {
  const before = server.count();
  server.inject(
    ...Array.from({ length: modelAttemptsMax }, () => ({ kind: "status", status: 500 }) as const),
  );
  expect((await ask("hello")).error?.code).toBe("EHOSTDOWN");
  expect(server.count() - before).toBe(modelAttemptsMax);
});

test("Retry-After is waited for, and a long one fails at once", async () => {
  server.inject({ kind: "status", status: 429, retryAfter: "0.2" });
  const start = performance.now();
  expect((await ask("@say x")).error).toBeUndefined();
  expect(performance.now() - start).toBeGreaterThanOrEqual(195);
  server.inject({ kind: "status", status: 429, retryAfter: "3600" });
  expect((await ask("@say x")).error).toMatchObject({ code: "EHOSTDOWN" });
});

test("a server that is not there is EHOSTDOWN", async () => {
  const { error } = await ask("hello", { baseUrl: "http://127.0.0.1:1/v1" });
  expect(error?.code).toBe("EHOSTDOWN");
  expect(error?.message).toContain("127.0.0.1:1");
});

test("an answer cut after output is EIO and is not tried again", async () => {
  const before = server.count();
  server.inject({ kind: "cut", after: 3 });
  const { error, events } = await ask("@say a long enough answer");
  expect(events.length).toBeGreaterThan(0);
  expect(error?.code).toBe("EIO");
  expect(server.count() - before).toBe(1);
});

test("a connection that breaks after output is EIO", async () => {
  const chunk = { choices: [{ index: 0, delta: { content: "half" }, finish_reason: null }] };
  const line = `data: ${JSON.stringify(chunk)}\n\n`;
  const head =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n";
  let peer: { terminate(): void } | undefined;
  const raw = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        peer = socket;
        socket.write(head + line);
      },
    },
  });
  try {
    const request = {
      messages: [{ role: "user", text: "x" }] as const,
      tools: [],
      signal: new AbortController().signal,
    };
    const stream = client({ baseUrl: `http://127.0.0.1:${raw.port}/v1` }).stream(request);
    let thrown: unknown;
    try {
      for await (const event of stream) {
        expect(event).toEqual({ type: "delta", text: "half" });
        peer?.terminate();
      }
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "EIO" });
  } finally {
    raw.stop(true);
  }
});

test("a call cut in the middle is not handed on, and is asked for again", async () => {
  server.inject({ kind: "cut", after: 3 });
  const { events, error } = await ask('@call fs.read {"path":"/workspace/notes.md"}');
  expect(error).toBeUndefined();
  expect(events.filter((event) => event.type === "call")).toHaveLength(1);
  expect(events[0]).toMatchObject({ args: { path: "/workspace/notes.md" } });
});

test("garbage in the stream is tried again before output", async () => {
  server.inject({ kind: "garbage" });
  expect(said((await ask("@say fine")).events)).toBe("fine");
});

test("an error object after output ends the answer", async () => {
  server.inject({ kind: "error-chunk", after: 2, code: 503 });
  const { error } = await ask("@say a long enough answer");
  expect(error).toMatchObject({ code: "EIO" });
  expect(error?.message).toContain("overloaded");
});

test("an error object before output is the status it names", async () => {
  server.inject({ kind: "error-chunk", after: 0, code: 429 });
  expect(said((await ask("@say fine")).events)).toBe("fine");
});

test("no spelling of the key is in an error", async () => {
  for (const secret of [key, "plain-secret/with+signs==", 'quote"d-secret']) {
    server.inject({ kind: "key-echo" });
    const { error } = await ask("hello", { key: secret });
    expect(error?.code).toBe("EACCES");
    const text = `${error?.message} ${error?.hint} ${Bun.inspect(error)}`;
    expect(text).not.toContain(secret);
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
    expect(error?.message).toContain("[key]");
  }
});

test("an answer past its bound is EMSGSIZE", async () => {
  const { error } = await ask("@repeat 2000 abcdefghij", { bytesMax: 4000 });
  expect(error?.code).toBe("EMSGSIZE");
});

test("a silent server is ETIMEDOUT", async () => {
  server.inject({ kind: "hang" });
  expect((await ask("hello", { idleMs: 30 })).error?.code).toBe("ETIMEDOUT");
});

test("a slow server is not a silent one", async () => {
  server.inject({ kind: "drip", ms: 20 });
  const { events, error } = await ask("@say slow but steady", { idleMs: 150 });
  expect(error).toBeUndefined();
  expect(said(events)).toBe("slow but steady");
});

test("a cancel closes the connection and is ECANCELED", async () => {
  const own = startModelServer({ mode: "script", dripMs: 5 });
  try {
    const controller = new AbortController();
    const request = {
      messages: [{ role: "user", text: "@repeat 2000 abcdefghij" }] as const,
      tools: [],
      signal: controller.signal,
    };
    let thrown: unknown;
    try {
      for await (const event of client({ baseUrl: own.baseUrl }).stream(request)) {
        if (event.type === "delta") controller.abort();
      }
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: "ECANCELED" });
    await own.abandoned();
  } finally {
    await own.stop();
  }
});

test("a reader that stops early closes the connection", async () => {
  const own = startModelServer({ mode: "script", dripMs: 5 });
  try {
    const request = {
      messages: [{ role: "user", text: "@repeat 2000 abcdefghij" }] as const,
      tools: [],
      signal: new AbortController().signal,
    };
    for await (const event of client({ baseUrl: own.baseUrl }).stream(request)) {
      if (event.type === "delta") break;
    }
    await own.abandoned();
  } finally {
    await own.stop();
  }
});

test("proxies and keys of the environment are not used", async () => {
  const child = Bun.spawn(
    [
      process.execPath,
      "-e",
      `
      const { openaiClient } = await import("${import.meta.dir}/openai.ts");
      const client = openaiClient({ name: "t/m", provider: "t", model: "m", baseUrl: "${server.baseUrl}",
        key: undefined, limit: undefined, effort: undefined, backoffMs: 1 });
      const request = { messages: [{ role: "user", text: "hi" }], tools: [], signal: new AbortController().signal };
      try { for await (const _ of client.stream(request)); console.log("answered"); }
      catch (error) { console.log(error.code, error.message); }
    `,
    ],
    {
      env: {
        HTTP_PROXY: "http://127.0.0.1:1",
        http_proxy: "http://127.0.0.1:1",
        ALL_PROXY: "http://127.0.0.1:1",
        OPENAI_API_KEY: key,
        TEST_API_KEY: key,
        PROVIDER_API_KEY: key,
      },
      stdout: "pipe",
    },
  );
  // The server wants the key: 401 shows that it was reached without the proxy and without a key.
  expect(await new Response(child.stdout).text()).toStartWith("EACCES ");
});
