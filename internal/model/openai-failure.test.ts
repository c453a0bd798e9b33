import { afterAll, expect, test } from "bun:test";
import { startModelServer } from "../../testdata/model-server/server.ts";
import type { CodedError } from "../abi/mod.ts";
import { Asking, said, testKey } from "./asking.ts";
import { modelAttemptsMax } from "./openai.ts";

const server = startModelServer({
  mode: "script",
  key: testKey,
  emptyNames: true,
  fragmentChars: 3,
});
const asking = new Asking(server.baseUrl);
afterAll(() => server.stop());

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
  const { error, events } = await asking.ask("hello");
  expect(error?.code).toBe(code as CodedError["code"]);
  expect(events).toEqual([]);
  expect(server.count() - before).toBe(1);
});

test("a refused key says how to store one", async () => {
  const { error } = await asking.ask("hello", { key: "sk-wrong-key-000000" });
  expect(error?.hint).toContain("run ctx auth login test");
});

test("a prompt that is too long is EMSGSIZE whatever the status", async () => {
  const body = JSON.stringify({
    error: { message: "This model's maximum context length is 4096" },
  });
  server.inject({ kind: "status", status: 400, body });
  expect((await asking.ask("hello")).error?.code).toBe("EMSGSIZE");
});

test.each([429, 500, 503, 529])("status %d is tried again", async (status) => {
  server.inject({ kind: "status", status }, { kind: "status", status });
  const { events, error } = await asking.ask("@say after all");
  expect(error).toBeUndefined();
  expect(said(events)).toBe("after all");
});

test("attempts are bounded", async () => {
  const before = server.count();
  server.inject(
    ...Array.from({ length: modelAttemptsMax }, () => ({ kind: "status", status: 500 }) as const),
  );
  expect((await asking.ask("hello")).error?.code).toBe("EHOSTDOWN");
  expect(server.count() - before).toBe(modelAttemptsMax);
});

test("Retry-After is waited for, and a long one fails at once", async () => {
  server.inject({ kind: "status", status: 429, retryAfter: "0.2" });
  const start = performance.now();
  expect((await asking.ask("@say x")).error).toBeUndefined();
  expect(performance.now() - start).toBeGreaterThanOrEqual(195);
  server.inject({ kind: "status", status: 429, retryAfter: "3600" });
  expect((await asking.ask("@say x")).error).toMatchObject({ code: "EHOSTDOWN" });
});

test("a server that is not there is EHOSTDOWN", async () => {
  const { error } = await asking.ask("hello", { baseUrl: "http://127.0.0.1:1/v1" });
  expect(error?.code).toBe("EHOSTDOWN");
  expect(error?.message).toContain("127.0.0.1:1");
  expect(error?.message).not.toMatch(/verbose|url|\.$/);
  expect(error?.hint).toContain("base_url");
});

test("an answer that says it is done is over, whatever its connection does", async () => {
  server.inject({ kind: "linger" });
  const { error, events } = await asking.ask("@say all of it");
  expect(error).toBeUndefined();
  expect(said(events)).toBe("all of it");
});

test("an answer cut after output is EIO and is not tried again", async () => {
  const before = server.count();
  server.inject({ kind: "cut", after: 3 });
  const { error, events } = await asking.ask("@say a long enough answer");
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
    const stream = asking.client({ baseUrl: `http://127.0.0.1:${raw.port}/v1` }).stream(request);
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
  const { events, error } = await asking.ask('@call fs.read {"path":"/workspace/notes.md"}');
  expect(error).toBeUndefined();
  expect(events.filter((event) => event.type === "call")).toHaveLength(1);
  expect(events[0]).toMatchObject({ args: { path: "/workspace/notes.md" } });
});

test("garbage in the stream is tried again before output", async () => {
  server.inject({ kind: "garbage" });
  expect(said((await asking.ask("@say fine")).events)).toBe("fine");
});

test("an error object after output ends the answer", async () => {
  server.inject({ kind: "error-chunk", after: 2, code: 503 });
  const { error } = await asking.ask("@say a long enough answer");
  expect(error).toMatchObject({ code: "EIO" });
  expect(error?.message).toContain("overloaded");
});

test("an error object before output is the status it names", async () => {
  server.inject({ kind: "error-chunk", after: 0, code: 429 });
  expect(said((await asking.ask("@say fine")).events)).toBe("fine");
});

test("no spelling of the key is in an error", async () => {
  for (const secret of [testKey, "plain-secret/with+signs==", 'quote"d-secret']) {
    server.inject({ kind: "key-echo" });
    const { error } = await asking.ask("hello", { key: secret });
    expect(error?.code).toBe("EACCES");
    const text = `${error?.message} ${error?.hint} ${Bun.inspect(error)}`;
    expect(text).not.toContain(secret);
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1));
    expect(error?.message).toContain("[key]");
  }
});

test("an answer past its bound is EMSGSIZE", async () => {
  const { error } = await asking.ask("@repeat 2000 abcdefghij", { bytesMax: 4000 });
  expect(error?.code).toBe("EMSGSIZE");
});

test("a silent server is ETIMEDOUT", async () => {
  server.inject({ kind: "hang" });
  expect((await asking.ask("hello", { idleMs: 30 })).error?.code).toBe("ETIMEDOUT");
});

test("a slow server is not a silent one", async () => {
  // Far apart, so that a busy machine does not make one of the pauses look like silence.
  const idleMs = 1500;
  const text = "slow but steady, piece by piece. ".repeat(5);
  server.inject({ kind: "drip", ms: 50 });
  const begun = performance.now();
  const { events, error } = await asking.ask(`@say ${text}`, { idleMs });
  expect(error).toBeUndefined();
  expect(said(events)).toBe(text);
  expect(performance.now() - begun).toBeGreaterThan(idleMs);
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
      for await (const event of asking.client({ baseUrl: own.baseUrl }).stream(request)) {
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
    let seen = 0;
    for await (const event of asking.client({ baseUrl: own.baseUrl }).stream(request)) {
      seen += 1;
      if (event.type === "delta") break;
    }
    await own.abandoned();
    expect(seen).toBe(1);
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
        OPENAI_API_KEY: testKey,
        TEST_API_KEY: testKey,
        PROVIDER_API_KEY: testKey,
      },
      stdout: "pipe",
    },
  );
  // The server wants the key: 401 shows that it was reached without the proxy and without a key.
  expect(await new Response(child.stdout).text()).toStartWith("EACCES ");
});
