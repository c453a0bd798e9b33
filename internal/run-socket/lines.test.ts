// Every line that a socket really sends is one that control/v1 promises, whatever was asked and however
// it went; and each form of an answer that has a golden is really sent.

import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  ask,
  authorize,
  connect,
  modelUse,
  own,
  Stage,
  update,
} from "../../testdata/run-socket/stage.ts";
import { fail, type Judgement } from "../abi/mod.ts";
import { capabilityLineBytesMax, judgeControl } from "../capability/mod.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";
import { type RunSocketHandlers, runConnectionsMax } from "./mod.ts";

const decision = {
  allowed: false,
  path: "/ctx/tool/fs.read",
  layers: [
    { layer: "path", allowed: true, because: "found", at: "agent/coder.d/path:1" },
    { layer: "perm", allowed: false, because: "perm is ---" },
  ],
};

/** Handlers that answer by what is in the request, in every way that they may. */
const handlers: RunSocketHandlers = {
  update: async ({ request_id, content }) => {
    if (content === "bug") throw new TypeError("a bug");
    if (content === "disk") fail("EIO", "the disk is full\n\u{1f600} and \u0001 odd");
    return { request_id, ok: true, ...own, control: "system.md" };
  },
  authorize: async ({ request_id, name }) => {
    if (name === "fs.read") {
      return { request_id, ok: false, code: "EACCES", message: "perm is ---", decision };
    }
    return { request_id, ok: true, decision: { allowed: true, layers: [] } };
  },
  call: async ({ request_id, name }) => {
    if (name === "memory.none") fail("EACCES", "it is refused");
    return { request_id, ok: true, result: { status: "ok", content: "done\n" } };
  },
  useModel: async ({ model }, emit) => {
    if (model === "debug/none") return fail("EACCES", "the model is refused");
    await emit({ type: "reasoning_delta", text: "hm" });
    await emit({ type: "delta", text: "\ud83d\ude00\n" });
    if (model === "debug/broken") fail("ETIMEDOUT", "the model said no more");
    if (model === "debug/bug") throw new TypeError("a bug");
    if (model === "debug/gone") return { status: "cancelled", code: "ECANCELED" };
    if (model === "debug/error") {
      await emit({ type: "error", code: "EIO", message: "the model broke" });
      return { status: "error", code: "EIO" };
    }
    await emit({ type: "message", content: [{ type: "text", text: "" }] });
    await emit({ type: "usage", input_tokens: 0, output_tokens: 7 });
    return { status: "ok" };
  },
};

const models = ["echo", "none", "broken", "bug", "gone", "error"];

const requests: readonly (object | string)[] = [
  update("u1"),
  update("u1"),
  update("u2", { content: "bug" }),
  update("u3", { content: "disk" }),
  update("u4", { control: "perm" }),
  update("u5", { run: "run-2" }),
  update("u6", { content: "x".repeat(8193) }),
  update("u7", { token: "old" }),
  authorize("a1"),
  { ...authorize("a2"), name: "shell.exec" },
  { op: "tool.call", request_id: "c1", name: "memory.read_graph", args: {} },
  { op: "tool.call", request_id: "c2", name: "memory.none", args: {} },
  { op: "agent.start", request_id: "s1", agent: "child" },
  ...models.map((name) => ({ ...modelUse(`m-${name}`), model: `debug/${name}` })),
  { op: "agent.destroy", request_id: "x1" },
  { op: "agent.update", request_id: 7 },
  "{}",
  "[]",
  "not JSON",
  "",
];

type Lines = readonly { readonly line: string; readonly said: Judgement }[];

/** Whether the line is the last that answers its request. */
const isLast = (line: string) => {
  const answer = JSON.parse(line) as { ok?: boolean; type?: string };
  return answer.ok !== undefined || answer.type === "done";
};

/** The lines that answer each request, sent one after another over one connection. */
async function judged(stage: Stage, sent: readonly (object | string)[]): Promise<Lines> {
  const connection = await connect(stage.open(handlers));
  const lines: string[] = [];
  for (const one of sent) {
    void connection.send(`${typeof one === "string" ? one : JSON.stringify(one)}\n`);
    for (let over = false; !over; ) {
      const received = await connection.next();
      if (received === undefined || !received.ok) throw new Error("the answer has no end");
      lines.push(received.line);
      over = isLast(received.line);
    }
  }
  connection.end();
  return lines.map((line) => ({ line, said: judgeControl(line) }));
}

const self = processFacts(process.pid) as ProcessStamp;
let stage: Stage;
beforeEach(() => {
  stage = new Stage();
  stage.roots = [self];
});
afterEach(() => stage.end());

test("every line of a socket is of control/v1, and every form of an answer is sent", async () => {
  const lines = await judged(stage, requests);
  expect(lines.filter(({ said }) => !said.ok)).toEqual([]);
  const kinds = lines.map(({ said }) => (said.ok ? said.kind : ""));
  const all = ["reply", "refusal", "delta", "reasoning_delta", "message", "usage", "error", "done"];
  expect([...new Set(kinds)].sort()).toEqual(all.sort());
  expect(stage.faults.length).toBe(2);
});

const refusals: readonly (readonly [string, string, string, boolean])[] = [
  ["a stranger", "EACCES", JSON.stringify(update("u1")), true],
  ["a line that is too long", "EMSGSIZE", "x".repeat(capabilityLineBytesMax), false],
];

for (const [whom, code, line, strange] of refusals) {
  test(`so is the one line to ${whom}`, async () => {
    if (strange) stage.roots = [];
    const [only, ...more] = await judged(stage, [line]);
    expect([only?.said, more]).toEqual([{ ok: true, kind: "refusal" }, []]);
    expect(JSON.parse(only?.line as string)).toMatchObject({ request_id: null, code });
  });
}

test("so is the line to one connection too many", async () => {
  const socket = stage.open(handlers);
  const open = await Promise.all(Array.from({ length: runConnectionsMax }, () => connect(socket)));
  const answered = await Promise.all(open.map((one, at) => ask(one, authorize(`a${at}`))));
  expect(answered.length).toBe(runConnectionsMax);
  const late = await connect(socket);
  const line = await late.next();
  expect(line?.ok === true ? judgeControl(line.line) : line).toEqual({ ok: true, kind: "refusal" });
  for (const one of [...open, late]) one.end();
});
