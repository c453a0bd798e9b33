import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { frameFault } from "./frame-fault.ts";
import { type Outcome, type PlayOptions, playTalk, skippedTalk } from "./play.ts";
import { jsonOutcome, summaryOf, tapEnd, tapPlan, tapPoint } from "./report.ts";
import { parseTalk } from "./talk.ts";
import { TalkConnection } from "./talk-connection.ts";

let folder: string;
let server: Server | undefined;
beforeEach(() => {
  folder = mkdtempSync("/tmp/ctx-play-");
});
afterEach(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A server that gives each connection to `serve`, and the talk played against it. */
async function play(
  serve: (client: Socket) => void,
  steps: readonly unknown[],
  header: Record<string, unknown> = {},
  stepMs = 5000,
  faultOf: PlayOptions["faultOf"] = () => undefined,
): Promise<Outcome> {
  const path = join(folder, "s.sock");
  server = createServer({ allowHalfOpen: true }, (client) => {
    client.on("error", () => undefined);
    serve(client);
  });
  await new Promise<void>((resolve) => server?.listen(path, resolve));
  const first = { talk: "op/x", abi: "op/v1", about: "why", ...header };
  const text = [first, ...steps].map((line) => `${JSON.stringify(line)}\n`).join("");
  const talk = parseTalk("abi/op/v1/talk/x.jsonl", text);
  const connect = () => TalkConnection.open(path);
  return playTalk(talk, { connect, given: { agent: "coder" }, stepMs, faultOf });
}

const says =
  (...lines: readonly unknown[]) =>
  (client: Socket) => {
    client.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  };
const ping = { send: { op: "ping" } };
const close = { expect_close: true };

/** Answers every line with itself and closes when the client has. */
function echo(client: Socket): void {
  client.on("data", (chunk) => client.write(chunk)).on("end", () => client.end());
}

describe("playTalk()", () => {
  test("passes when everything goes as written", async () => {
    const { failure } = await play(says({ a: "r" }, { b: "r" }), [
      ping,
      { expect: { a: "<run>" } },
      { expect: { b: "<run>" } },
      close,
    ]);
    expect(failure).toBeUndefined();
  });

  test("fills what it sends and knows what it made and the agent's name", async () => {
    const { failure } = await play(echo, [
      { send: { id: "<new:req>", agent: "<agent>", text: "<<x>" } },
      { expect: { id: "<req>", agent: "coder", text: "<<x>" } },
      { send_line: '{"raw":1}' },
      { expect: { raw: 1 } },
      { send_bytes: "eyJieXRlcyI6Mn0K" },
      { expect: { bytes: 2 } },
      { send_repeat: { before: '{"t":"', unit: "ab", times: 3, after: '"}' } },
      { expect: { t: "ababab" } },
      { close: "write" },
      close,
    ]);
    expect(failure).toBeUndefined();
  });

  test("keeps connections apart by their names", async () => {
    const { failure } = await play(echo, [
      { send: { n: 1 } },
      { send: { n: 2 }, on: "b" },
      { expect: { n: 2 }, on: "b" },
      { expect: { n: 1 } },
      { close: true },
      { close: "write", on: "b" },
      { ...close, on: "b" },
    ]);
    expect(failure).toBeUndefined();
  });

  test("passes over kinds that may be skipped, but not over one that is expected", async () => {
    const frames = [{ type: "delta", text: "a" }, { type: "delta", text: "b" }, { type: "done" }];
    const skip = { may_skip: ["delta"] };
    const all = await play(says(...frames), [ping, { expect: { type: "done" } }, close], skip);
    expect(all.failure).toBeUndefined();
    server?.close();
    const one = [ping, { expect: { text: "b" } }, { expect: { type: "done" } }, close];
    expect((await play(says(...frames), one, skip)).failure).toBeUndefined();
    server?.close();
    const none = await play(says(...frames), [ping, { expect: { type: "done" } }, close]);
    expect(none.failure).toMatchObject({ line: 3, path: "/type" });
  });

  test("adds up the text of one kind, whatever its pieces", async () => {
    const frames = [
      { type: "delta", text: "a" },
      { type: "usage" },
      { type: "delta", text: "b" },
      { type: "done" },
    ];
    const steps = (text: string) => [
      ping,
      { expect_text: { kind: "delta", text } },
      { expect: { type: "done" } },
      close,
    ];
    const skip = { may_skip: ["usage"] };
    expect((await play(says(...frames), steps("ab"), skip)).failure).toBeUndefined();
    server?.close();
    const wrong = await play(says(...frames), steps("abc"), skip);
    expect(wrong.failure).toMatchObject({ line: 3, expected: '"abc"', came: '"ab"' });
  });

  test("finds the text of v1 and of v2 where those keep it", async () => {
    const v1 = (type: string) => ({ abi: "x", payload: { value: { type, text: "a" } } });
    const text = [ping, { expect_text: { kind: "delta", text: "aa" } }];
    const header = { talk: "v1/x", abi: "interaction/v1" };
    const first = await play(says(v1("delta"), v1("delta"), v1("done")), text, header);
    expect(first.failure).toBeUndefined();
    server?.close();
    const v2 = (kind: string, data: object) => ({ abi: "x", event: { kind, data } });
    const delta = v2("event", { type: "delta", text: "a" });
    const other = { talk: "v2/x", abi: "interaction/v2" };
    const second = await play(says(delta, delta, v2("done", {})), text, other);
    expect(second.failure).toBeUndefined();
  });

  test.each([
    ["a frame after the last one", '{"a":1}\n{"b":2}\n', 4],
    ["a line that is not ended", '{"a":1}', 3],
    ["what is no JSON", "a\n", 3],
    ["what is no object", "[1]\n", 3],
    ["nothing", "", 3],
  ])("fails on %s", async (_, bytes, line) => {
    const { failure } = await play(
      (client) => void client.end(bytes),
      [ping, { expect: { a: 1 } }, close],
    );
    expect(failure).toMatchObject({ line, on: "a" });
  });

  test("fails on bytes that are not UTF-8", async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d, 0x0a]);
    const { failure } = await play((client) => void client.end(bytes), [ping, { expect: {} }]);
    expect(failure?.reason).toContain("UTF-8");
  });

  test("fails on a frame that is not right, whatever the talk asks of it", async () => {
    const steps = [ping, { expect: { type: "delta" } }, { expect: { type: "done" } }, close];
    const delta = { type: "delta", id: "evt-1", run: "r", text: "x" };
    const done = { type: "done", id: "evt-2", run: "r", status: "ok" };
    const right = await play(says(delta, done), steps, {}, 5000, frameFault);
    expect(right.failure).toBeUndefined();
    server?.close();
    const wrong = await play(says(delta, { ...done, status: "fine" }), steps, {}, 5000, frameFault);
    expect(wrong.failure).toMatchObject({ line: 4 });
    expect(wrong.failure?.reason).toContain("/status");
    server?.close();
    const skip = [ping, { expect: { type: "done" } }, close];
    const skipped = { may_skip: ["delta"] };
    const over = await play(says({ ...delta, text: 7 }, done), skip, skipped, 5000, frameFault);
    expect(over.failure?.reason).toContain("/text");
    server?.close();
    const text = [ping, { expect_text: { kind: "delta", text: "x" } }, { expect: {} }];
    const { run: _, ...runless } = delta;
    const summed = await play(says(runless, done), text, {}, 5000, frameFault);
    expect(summed.failure?.reason).toContain("/run");
  });

  test("judges a frame by the wire that it is of", () => {
    const pong = '{"type":"pong","id":"0"}';
    expect(frameFault("op", pong)).toBeUndefined();
    expect(frameFault("v1", pong)).toBeUndefined();
    expect(frameFault("control", pong)).toBeString();
    expect(frameFault("v1", '{"abi":"cortexfs.interaction/v1"}')).toContain("/payload");
    expect(frameFault("v1", '{"abi":"cortexfs.interaction/v2"}')).toBeString();
    expect(frameFault("v2", '{"type":"pong"}')).toContain("/id");
  });

  test("gives a step its time and no more", async () => {
    const quiet = () => undefined;
    const late = await play(quiet, [ping, { expect: {} }], {}, 50);
    expect(late.failure).toMatchObject({ line: 3, reason: "nothing came within 50 ms" });
    server?.close();
    const open = await play(quiet, [ping, close], {}, 50);
    expect(open.failure?.reason).toBe("the server did not close within 50 ms");
  });

  test("takes a refusal while it still writes", async () => {
    const refuse = (client: Socket) => {
      client.once("data", () => client.end('{"type":"error"}\n'));
    };
    const { failure } = await play(refuse, [
      { send_repeat: { before: "", unit: "x", times: 4 * 1024 * 1024, after: "" } },
      { expect: { type: "error" } },
      close,
    ]);
    expect(failure).toBeUndefined();
  });
});

test("a socket that is not there is EHOSTDOWN with what to do", async () => {
  const error = await TalkConnection.open(join(folder, "none.sock")).catch((caught) => caught);
  expect(error).toMatchObject({ code: "EHOSTDOWN" });
  expect(error.hint).toContain("start the server");
});

test("a socket of any length of path is reached", async () => {
  const long = join(folder, "l".repeat(100), "s.sock");
  const error = await TalkConnection.open(long).catch((caught) => caught);
  expect(error).toMatchObject({ code: "EHOSTDOWN" });
});

describe("the report", () => {
  const steps = [ping, { expect: { type: 'a"\u2028' } }];

  test("is TAP 14 with a YAML block that names golden, line, expected and came", async () => {
    const outcome = await play(says({ type: "b" }), steps);
    const [point, open, ...block] = tapPoint(3, outcome).trimEnd().split("\n");
    expect([point, open, block.pop()]).toEqual(["not ok 3 - op/x", "  ---", "  ..."]);
    const fields = Object.fromEntries(
      block.map((line) => /^ {2}(\w+): (.*)$/.exec(line)?.slice(1, 3) ?? []),
    ) as Record<string, string>;
    expect(fields).toMatchObject({
      golden: '"abi/op/v1/talk/x.jsonl"',
      line: "3",
      connection: '"a"',
      path: '"/type"',
      came: '"{\\"type\\":\\"b\\"}"',
    });
    expect(fields["expected"]).toContain("\\u2028");
    expect(tapPlan(3)).toBe("TAP version 14\n1..3\n");
  });

  test("shows no character of a server that turns or hides text as it came", async () => {
    server?.close();
    const failed = await play(says({ type: "\u202ecba\u2066\u200b" }), steps);
    expect(tapPoint(1, failed)).toContain("\\u202ecba\\u2066\\u200b");
    expect(tapPoint(1, failed)).not.toMatch(/[\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);
  });

  test("calls a failing draft TODO and counts it apart", async () => {
    const draft = await play(says({ type: "b" }), steps, { draft: true });
    expect(tapPoint(1, draft)).toStartWith("not ok 1 - op/x # TODO draft\n  ---\n");
    expect(summaryOf([draft])).toEqual({ passed: 0, failed: 0, todo: 1, skipped: 0 });
    server?.close();
    const failed = await play(says({ type: "b" }), steps);
    const summary = summaryOf([draft, failed]);
    expect(summary).toEqual({ passed: 0, failed: 1, todo: 1, skipped: 0 });
    expect(tapEnd(summary)).toContain("# 0 passed, 1 failed, 1 todo, 0 skipped\n");
  });

  test("skips a talk with the reason, and counts it neither as passed nor as failed", async () => {
    const { talk, ...passed } = await play(says({ type: 'a"\u2028' }), steps);
    const skipped = skippedTalk(talk, "needs a friend");
    expect(tapPoint(2, skipped)).toBe("ok 2 - op/x # SKIP needs a friend\n");
    expect(jsonOutcome(skipped)).toEqual({
      talk: "op/x",
      golden: "abi/op/v1/talk/x.jsonl",
      draft: false,
      skipped: "needs a friend",
    });
    const summary = summaryOf([{ talk, ...passed }, skipped]);
    expect(summary).toEqual({ passed: 1, failed: 0, todo: 0, skipped: 1 });
    expect(tapEnd(summary)).toBe("# 1 passed, 0 failed, 0 todo, 1 skipped\n");
  });

  test("has a form for programs with the same facts", async () => {
    const outcome = await play(says({ type: "b" }), steps);
    expect(jsonOutcome(outcome)).toMatchObject({
      talk: "op/x",
      golden: "abi/op/v1/talk/x.jsonl",
      ok: false,
      draft: false,
      line: 3,
      on: "a",
      path: "/type",
      came: '{"type":"b"}',
    });
    server?.close();
    const passed = await play(says({}), [ping, { expect: {} }]);
    expect(tapPoint(1, passed)).toBe("ok 1 - op/x\n");
    expect(jsonOutcome(passed)).toMatchObject({ ok: true });
  });
});
