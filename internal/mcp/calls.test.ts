import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hostileServer, python } from "../testkit/mod.ts";
import { closeAll, never, openProgram, refusal } from "./fixture.ts";
import type { CallOptions, OpenServer } from "./mod.ts";

setDefaultTimeout(60_000);
const folder = mkdtempSync(join(tmpdir(), "mcp-calls-"));
afterEach(closeAll);
const here = test.skipIf(!python);

const open = (script: string, ...args: string[]) =>
  openProgram(hostileServer(script, args), { label: "s" });

const bounds = { signal: never, idleMs: 20_000, totalMs: 20_000 };

const call = (server: OpenServer, args = {}, options: Partial<CallOptions> = {}) =>
  server.callTool("echo", args, { ...bounds, ...options });

const textOf = ({ content }: { content: readonly unknown[] }) =>
  (content[0] as { text: string }).text;

here("a call carries its arguments and its result comes as it was sent", async () => {
  const server = await open("plain");
  const result = await call(server, { b: [1, { c: null }], a: "é\n" });
  expect({ ...result, content: JSON.parse(textOf(result)) }).toEqual({
    content: { b: [1, { c: null }], a: "é\n" },
    isError: false,
  });
});

here("calls that run together get each its own answer", async () => {
  const server = await open("plain");
  const results = await Promise.all([1, 2, 3].map((n) => call(server, { n })));
  expect(results.map(textOf)).toEqual(['{"n": 1}', '{"n": 2}', '{"n": 3}']);
});

here("a server's requests are answered, or refused politely, while a call runs", async () => {
  const roots = [{ uri: "file:///w", name: "w" }];
  const asked = async (kind: string) => {
    const server = await openProgram(hostileServer("ask", [kind]), { label: "s", roots });
    const reply = JSON.parse(textOf(await call(server)));
    return reply.error?.code ?? reply.result;
  };
  expect(await asked("roots")).toEqual({ roots });
  expect(await asked("sampling")).toBe(-32601);
  expect(await asked("elicitation")).toBe(-32601);
  expect(await asked("tasks")).toBe(-32601);
  expect(await asked("unknown")).toBe(-32601);
  const server = await open("ping");
  const pongs = JSON.parse(textOf(await call(server)));
  expect(pongs.map((pong: { result: unknown }) => pong.result)).toEqual([{}, {}, {}]);
});

for (const script of ["noise", "batch", "half-lines", "two-in-one-write", "carriage-returns"]) {
  here(`${script}: the answer is found`, async () => {
    expect(textOf(await call(await open(script), { a: 1 }))).toBe('{"a": 1}');
  });
}

here("lines that are no messages are counted", async () => {
  const server = await open("noise");
  await call(server);
  expect(server.skippedLines).toBeGreaterThan(2);
});

here("replies that nobody waits for change nothing", async () => {
  for (const script of ["duplicate-replies", "unsolicited-replies"]) {
    const server = await open(script);
    expect(textOf(await call(server, { a: 1 }))).toBe('{"a": 1}');
    expect(textOf(await call(server, { a: 2 }))).toBe('{"a": 2}');
    expect(server.ignoredMessages).toBeGreaterThan(0);
  }
});

here("without answer or progress a call is cancelled, and its late reply is nobody's", async () => {
  const log = join(folder, "late");
  const argv = hostileServer("late-reply");
  const env = { PATH: process.env["PATH"] ?? "", HOSTILE_LOG: log };
  const server = await openProgram(argv, { label: "s", env });
  expect(await refusal(call(server, {}, { idleMs: 200 }))).toBe(
    'ETIMEDOUT: tool "echo" of MCP server "s" neither answered nor progressed within 200 ms',
  );
  expect(textOf(await call(server, { a: 2 }))).toBe("the second call's");
  expect(readFileSync(log, "utf8")).toContain('"method":"notifications/cancelled"');
});

here("progress keeps a call alive, and is handed on", async () => {
  const server = await open("progress-then-answer", "6", "100");
  const seen: number[] = [];
  const onProgress = ({ progress }: { progress: number }) => seen.push(progress);
  const result = await call(server, { a: 1 }, { idleMs: 400, onProgress });
  expect(textOf(result)).toBe("after progress");
  expect(seen).toHaveLength(6);
});

here("progress for ever ends with the total", async () => {
  const server = await open("progress-for-ever");
  expect(await refusal(call(server, {}, { idleMs: 5000, totalMs: 700 }))).toBe(
    'ETIMEDOUT: tool "echo" of MCP server "s" did not answer within 700 ms',
  );
});

here("progress of another call keeps nothing alive", async () => {
  const server = await open("progress-of-another");
  expect(await refusal(call(server, {}, { idleMs: 300 }))).toStartWith("ETIMEDOUT: ");
});

here("a call that is cancelled says so", async () => {
  const server = await open("silence", "call");
  const stop = new AbortController();
  await server.listTools(never);
  const running = refusal(call(server, {}, { signal: stop.signal }));
  stop.abort();
  expect(await running).toBe('ECANCELED: tool "echo" of MCP server "s" was cancelled');
});

here("a server that ends fails the call at once", async () => {
  expect(await refusal(call(await open("exit", "call")))).toBe(
    'EHOSTDOWN: MCP server "s" ended with status 3',
  );
});

here("an error of the protocol is thrown, with the server's words", async () => {
  expect(await refusal(call(await open("error", "call")))).toBe(
    'EIO: tool "echo" of MCP server "s" failed: call is not for you\u001b[31m',
  );
});

here("a server that does not read is let go", async () => {
  const server = await open("deaf");
  await server.listTools(never);
  const large = { text: "x".repeat(20 * 1024 * 1024) };
  const first = refusal(call(server, large));
  expect(await refusal(call(server, large))).toBe(
    'slow_consumer: MCP server "s": it left more than 33554432 bytes unread',
  );
  expect(await first).toStartWith("slow_consumer: ");
});

here("a large result within the bound arrives, and one past it does not", async () => {
  const within = await call(await open("result-large", "15"));
  expect(textOf(within).length).toBeGreaterThan(15_000_000);
  expect(await refusal(call(await open("result-large", "17")))).toStartWith("EMSGSIZE: ");
});

here("a result that nests without end is refused", async () => {
  expect(await refusal(call(await open("result-deep")))).toMatch(/^E(?:IO|TIMEDOUT): /);
  expect(await refusal(call(await open("result-deep", "300")))).toBe(
    'EIO: tool "echo" of MCP server "s" failed: its reply nests deeper than 256 levels',
  );
});

test("the folder of these tests is removed", () => {
  rmSync(folder, { recursive: true });
  expect(() => readFileSync(folder)).toThrow();
});
