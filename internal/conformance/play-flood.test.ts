// Servers that do not stop talking: a talk against one ends in its time and in bounded memory.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { type Failure, playTalk } from "./play.ts";
import { parseTalk } from "./talk.ts";
import { TalkConnection } from "./talk-connection.ts";

let folder: string;
let server: Server;
/** Bytes that the kernel took from the server; what it holds of them is small. */
let taken = 0;

beforeEach(() => {
  folder = mkdtempSync("/tmp/ctx-flood-");
  taken = 0;
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends the text again and again, as fast as it is read. */
function flood(client: Socket, text: string): void {
  const next = () => {
    if (client.destroyed) return;
    client.write(text, () => {
      taken += Buffer.byteLength(text);
      setImmediate(next);
    });
  };
  client.on("error", () => undefined).resume();
  next();
}

async function play(text: string, steps: readonly unknown[], stepMs: number): Promise<Failure> {
  const path = join(folder, "s.sock");
  server = createServer((client) => flood(client, text));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const header = { talk: "op/x", abi: "op/v1", about: "why", may_skip: ["delta"] };
  const lines = [header, ...steps].map((line) => `${JSON.stringify(line)}\n`).join("");
  const talk = parseTalk("abi/op/v1/talk/x.jsonl", lines);
  const connect = () => TalkConnection.open(path);
  const outcome = await playTalk(talk, {
    connect,
    given: { agent: "a" },
    stepMs,
    faultOf: () => undefined,
  });
  return outcome.failure as Failure;
}

const delta = `{"type":"delta","text":"${"x".repeat(1000)}"}\n`;

test("frames that may be skipped, without an end, are late like silence", async () => {
  const begun = performance.now();
  const failure = await play(delta.repeat(50), [{ expect: { type: "done" } }], 300);
  expect(failure.reason).toBe("nothing but what may be skipped came within 300 ms");
  expect(performance.now() - begun).toBeLessThan(3000);
});

test("a text without an end is told once it is another one, and is not kept", async () => {
  const begun = performance.now();
  const steps = [{ expect_text: { kind: "delta", text: "xxx" } }];
  const failure = await play(delta.repeat(50), steps, 60_000);
  expect(failure).toMatchObject({ line: 2, reason: "the text of delta is another one" });
  expect(performance.now() - begun).toBeLessThan(3000);
});

test("a connection that no step looks at is read up to a bound of bytes", async () => {
  const long = `{"type":"delta","text":"${"x".repeat(1024 * 1024)}"}\n`;
  const path = join(folder, "s.sock");
  server = createServer((client) => flood(client, long));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const connection = await TalkConnection.open(path);
  try {
    await Bun.sleep(1500);
    expect(taken).toBeGreaterThan(8 * 1024 * 1024);
    expect(taken).toBeLessThan(32 * 1024 * 1024);
    const line = await connection.peek(performance.now() + 1000);
    expect(line).toMatchObject({ ok: true, line: long.slice(0, -1) });
    // Read on once there is room.
    for (let lines = 0; lines < 40; lines++) {
      await connection.peek(performance.now() + 5000);
      connection.drop();
    }
    expect(taken).toBeGreaterThan(32 * 1024 * 1024);
  } finally {
    connection.destroy();
  }
});
