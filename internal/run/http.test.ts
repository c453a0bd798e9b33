// The executor against a model server over HTTP: what the server is asked, and what becomes of it.

import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ModelServer, startModelServer } from "../../testdata/model-server/server.ts";
import { resolveModel } from "../model/mod.ts";
import { removeSecret, writeSecret } from "../secret/mod.ts";
import { createExecutor } from "./executor.ts";
import { MemoryContext, TestWorld } from "./fakes.ts";

const key = "sk-loopback-0123456789";
const world = new TestWorld();
let server: ModelServer;

beforeAll(() => {
  server = startModelServer({
    mode: "script",
    key,
    emptyNames: true,
    fragmentChars: 5,
    callId: "call_0",
    usage: { input: 10, output: 2 },
  });
});
afterAll(async () => {
  await server.stop();
  world.close();
});

beforeEach(() => {
  world.reset();
  world.model("local/test-model", "openai.chat");
  provide({});
  writeSecret(world.places, "local", key);
  world.write("agent/coder.d/model", "local/test-model\n");
  const grant = "allow coder_t model:local/test-model use\nallow coder_t model:debug/echo use\n";
  const tools = ["fs.read", "shell.exec"].map((name) => `allow coder_t tool:${name} execute\n`);
  world.write("agent/coder.d/policy", grant + tools.join(""));
});

function provide(change: object): void {
  const provider = { name: "local", base_url: server.baseUrl, ...change };
  const file = join(world.places.config, "providers.d/local.json");
  writeFileSync(file, JSON.stringify(provider), { mode: 0o644 });
}

async function send(input: string) {
  const context = new MemoryContext(input);
  const outcome = await createExecutor(world.options)(context);
  return { context, outcome };
}

const resolve = () =>
  resolveModel({
    tree: world.tree,
    places: world.places,
    choice: { kind: "ref", ref: { provider: "local", model: "test-model" } },
  });

test("the server sees tools and messages, then the result, and its repeated ids lose no call", async () => {
  const before = server.requests.length;
  const script =
    '@call fs.read {"path":"a"}\n@calls [["fs.read",{"path":"b"}],["shell.exec",{"cmd":"id"}]]\n@result';
  const { context, outcome } = await send(script);
  expect(outcome).toEqual({ status: "ok" });
  expect(context.messages()).toEqual(["launched"]);
  expect(context.outcomes()).toHaveLength(3);
  const [first, second, third] = server.requests.slice(before).map((request) => request.body);
  expect(first?.tools?.map((tool) => tool.function.name)).toEqual(["tsh", "fs_read", "shell_exec"]);
  expect(first?.messages.map((message) => message.role)).toEqual(["system", "user"]);
  expect(second?.messages.slice(2)).toMatchObject([
    { role: "assistant", tool_calls: [{ id: "call-1", function: { name: "fs_read" } }] },
    { role: "tool", tool_call_id: "call-1", content: "launched" },
  ]);
  expect(third?.messages).toHaveLength(7);
  expect(context.records.filter((record) => record.type === "usage")).toEqual([
    { type: "usage", model: "local/test-model", input: 30, output: 6 },
  ]);
});

test("no key is in a record, a live frame or an error", async () => {
  for (const fault of [
    { kind: "key-echo" } as const,
    { kind: "status", status: 400, body: `{"error":{"message":"Bearer ${key}"}}` } as const,
  ]) {
    server.inject(fault);
    const { context, outcome } = await send("hello");
    expect(outcome.status).toBe("error");
    expect(JSON.stringify([outcome, context.records, context.live])).not.toContain(key);
  }
});

test("a server that fails is noted and the next candidate answers", async () => {
  world.write("agent/coder.d/model", "local/test-model\ndebug/echo\n");
  server.inject({ kind: "status", status: 404 });
  const { context, outcome } = await send("hello");
  expect(outcome).toEqual({ status: "ok" });
  expect(context.records).toMatchObject([
    { type: "note", code: "ENOENT", object: "model/local/test-model" },
    { type: "message", text: "hello" },
  ]);
});

test("a stored key is used anew when it changes", async () => {
  writeSecret(world.places, "local", "sk-another-key-0000");
  expect((await send("@say x")).outcome).toMatchObject({ status: "error", code: "EACCES" });
  writeSecret(world.places, "local", key);
  expect((await send("@say x")).outcome).toEqual({ status: "ok" });
});

test("one client serves every turn until something it was made of changes", () => {
  const first = resolve();
  expect(resolve()).toBe(first);
  provide({ model_limits: { "test-model": 8192 } });
  const second = resolve();
  expect(second).not.toBe(first);
  expect(second.limit).toBe(8192);
  expect(resolve()).toBe(second);
});

test.each([
  [{ enabled: false }, "EACCES"],
  [{ formats: ["anthropic.messages"] }, "EINVAL"],
  [{ name: "elsewhere" }, "ENOENT"],
  [{ base_url: "http://192.0.2.1/v1" }, "EACCES"],
])("a provider with %j is %s before anything is sent", (change, code) => {
  removeSecret(world.places, "local");
  provide(change);
  let thrown: unknown;
  try {
    resolve();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code });
  expect((thrown as { hint?: string }).hint).toBeString();
});

test("a loopback server needs no key", () => {
  removeSecret(world.places, "local");
  expect(resolve().name).toBe("local/test-model");
});

test("a driver that is not there is named", () => {
  world.model("local/test-model", "openai.responses");
  expect(resolve).toThrow('has the driver "openai.responses", which is unknown');
});

/** Turns of the memory test; enough that a client kept for each of them would show. */
const turnsMeasured = 200;

test("memory and descriptors are bounded over many turns", async () => {
  const quick = startModelServer({ mode: "script", instant: true });
  try {
    provide({ base_url: quick.baseUrl });
    const turns = async (count: number) => {
      for (let n = 0; n < count; n += 1) {
        const { outcome } = await send('@call fs.read {"path":"a"}\n@result');
        expect(outcome).toEqual({ status: "ok" });
        world.launcher.requests.length = 0;
      }
      Bun.gc(true);
      return {
        resident: process.memoryUsage().rss,
        descriptors: readdirSync("/proc/self/fd").length,
      };
    };
    const warm = await turns(50);
    const later = await turns(turnsMeasured);
    expect(later.resident - warm.resident).toBeLessThan(32 * 1024 * 1024);
    expect(later.descriptors).toBeLessThanOrEqual(warm.descriptors + 2);
  } finally {
    await quick.stop();
  }
}, 60_000);
