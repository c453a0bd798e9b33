// The author's helper as processes under node and under Bun, from the file that authors get: what it
// prints is read as the host reads it, and what it asks is asked of a real capability socket.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import * as helper from "cortexfs/agent";
import { fail } from "../internal/abi/mod.ts";
import {
  encodeInvocation,
  type Invocation,
  type Observation,
  RunCalls,
  StepReader,
} from "../internal/envelope/mod.ts";
import { type ProcessStamp, processFacts } from "../internal/os/mod.ts";
import { controlSocketName, type RunSocketHandlers } from "../internal/run-socket/mod.ts";
import { own, Stage } from "../testdata/run-socket/stage.ts";

setDefaultTimeout(120_000);

const top = resolve(import.meta.dir, "..");
const program = join(top, "testdata/sdk/steps.mjs");
const bytesOf = (text: string) => new TextEncoder().encode(text);

test("agent.js and agent.d.ts are what the compiler makes of agent.ts", () => {
  const made = mkdtempSync("/tmp/ctx-sdk-");
  try {
    const tsc = join(top, "node_modules/typescript/bin/tsc");
    const done = Bun.spawnSync(["node", tsc, "-p", "sdk", "--outDir", made], { cwd: top });
    expect(done.stdout.toString() + done.stderr.toString()).toBe("");
    const again = "run `npx tsc -p sdk`";
    for (const name of ["agent.js", "agent.d.ts"]) {
      const same =
        readFileSync(join(made, name), "utf8") === readFileSync(join(top, "sdk", name), "utf8");
      expect([name, same ? "" : again]).toEqual([name, ""]);
    }
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
});

test("a package of the product gives the helper to import", () => {
  const { exports } = JSON.parse(readFileSync(join(top, "package.json"), "utf8")) as {
    exports: Record<string, { types: string; default: string }>;
  };
  const files = exports["./agent"] as { types: string; default: string };
  expect(files).toEqual({ types: "./sdk/agent.d.ts", default: "./sdk/agent.js" });
  expect(Object.keys(helper).sort()).toEqual(["AgentError", "decodeInvocation", "runStep"]);
});

const base: Invocation = {
  schema: "cortexfs.agent-invocation/v1",
  run: own.run,
  step: 0,
  input: "",
  history_messages: "[]",
  tool_context: "",
  observation: null,
};

for (const runtime of ["node", process.execPath]) {
  const name = runtime === "node" ? "node" : "bun";

  /** Runs a step that does what `input` says; its output is read as the host reads it. */
  async function run(input: string, change: Partial<Invocation> = {}, env = {}) {
    const invocation = { ...base, input, ...change };
    const child = Bun.spawn([runtime, program], {
      env: {
        PATH: process.env["PATH"] ?? "",
        ...{ CTX_RUN_ID: own.run, CTX_STEP: String(invocation.step) },
        ...{ CTX_AGENT: own.agent, CTX_SESSION: own.session },
        ...env,
      },
      stdin: bytesOf(encodeInvocation(invocation)),
      stdout: "pipe",
      stderr: "pipe",
    });
    const reader = new StepReader(new RunCalls(own.run));
    const [output, stderr, status] = await Promise.all([
      new Response(child.stdout).bytes(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    const frames = reader.push(output).map(({ type }) => type);
    return { frames, outcome: reader.end({ status }), stderr, output };
  }

  describe(`runStep under ${name}`, () => {
    test("ends a step with a message, or with a call", async () => {
      const answer = await run("answer");
      expect(answer.outcome).toEqual({ kind: "message", text: "an answer" });
      const call = await run("call");
      expect(call.outcome).toEqual({
        kind: "call",
        text: "",
        call: { type: "tool_call", id: "call-0", name: "fs.list", args: { path: "/workspace" } },
      });
      const both = await run("call-after-message");
      expect(both.outcome).toMatchObject({ kind: "call", text: "first I look" });
    });

    test("prints each kind of frame", async () => {
      const { frames, outcome } = await run("speak");
      expect(frames).toEqual(["reasoning_delta", "delta", "message", "usage"]);
      expect(outcome).toEqual({ kind: "message", text: "a message" });
    });

    test("gives the invocation with its history as values", async () => {
      const history = [
        { role: "user", content: "hi" },
        { role: "assistant", content: "", tool_calls: [{ id: "a", name: "fs.list", args: {} }] },
        { role: "tool", tool_call_id: "a", name: "fs.list", status: "ok", content: "a.txt" },
        { role: "assistant", content: "a.txt" },
      ];
      const seen = await run("seen", {
        history_messages: JSON.stringify(history),
        tool_context: "tools",
      });
      expect(seen.outcome).toEqual({
        kind: "message",
        text: JSON.stringify([own.run, 0, history, "tools"]),
      });
      const observation: Observation = {
        tool_call_id: "call-0",
        name: "fs.list",
        status: "ok",
        content: "a.txt",
        truncated: false,
      };
      const observed = await run("observed", { step: 1, observation });
      expect(observed.outcome).toEqual({ kind: "message", text: "it says a.txt" });
    });

    test("ends a mistake of the author with 1 and a line that says it", async () => {
      const cases: readonly (readonly [string, string])[] = [
        ["nothing", "neither a message nor a call [EINVAL]"],
        ["two-calls", `nothing can be printed after the call of "fs.list" [EINVAL]`],
        ["message-after-call", `nothing can be printed after the call of "fs.list" [EINVAL]`],
        ["bad-name", `"../fs.list" is not the name of a tool [EINVAL]`],
        ["bad-args", `the input of "fs.list" is not an object [EINVAL]`],
        ["not-a-number", "Infinity is not a number that can be sent [EINVAL]"],
        ["long-message", "the line of a message is longer than 1048576 bytes [EMSGSIZE]"],
        ["too-much", "the step printed more than 8388608 bytes [EMSGSIZE]"],
        ["throws", "TypeError: the author's mistake"],
      ];
      for (const [input, why] of cases) {
        const { outcome, stderr } = await run(input);
        expect([input, outcome]).toEqual([
          input,
          { kind: "error", code: "EIO", message: "step exited 1" },
        ]);
        expect([input, stderr]).toEqual([input, expect.stringContaining(why)]);
      }
    });

    test("refuses a run or a step that is not the host's, and a history that is none", async () => {
      const foreign = await run("answer", {}, { CTX_RUN_ID: "run-2" });
      expect(foreign.stderr).toBe('"run" is not CTX_RUN_ID [EINVAL]\n');
      const other = await run("answer", {}, { CTX_STEP: "1" });
      expect(other.stderr).toBe('"step" is not CTX_STEP [EINVAL]\n');
      for (const text of ["{", "{}", "[1]", '[{"role":"host","content":""}]']) {
        const { stderr } = await run("answer", { history_messages: text });
        expect([text, stderr]).toEqual([text, expect.stringContaining('"history_messages" is n')]);
      }
    });

    test("makes text sendable, and cuts a long delta between characters", async () => {
      const half = await run("half-a-pair");
      expect(half.outcome).toEqual({ kind: "message", text: "\ufffd" });
      const long = await run("long-delta");
      expect(long.frames).toEqual(["delta", "delta", "delta", "message"]);
      const lines = new TextDecoder().decode(long.output).trimEnd().split("\n").slice(0, 3);
      const text = lines.map((line) => (JSON.parse(line) as { text: string }).text).join("");
      expect(text === "😀".repeat(200_000)).toBe(true);
    });
  });

  describe(`the capability socket under ${name}`, () => {
    /** A step with a socket of its own, whose handlers are these. */
    async function asking(handlers: Parameters<Stage["open"]>[0], input: string) {
      const stage = new Stage();
      stage.roots = [processFacts(process.pid) as ProcessStamp];
      try {
        const socket = join(stage.open(handlers).folder, controlSocketName);
        return await run(input, {}, { CTX_CONTROL_SOCKET: socket });
      } finally {
        await stage.end();
      }
    }

    test("a model's answer comes in pieces and whole, with what it used", async () => {
      const handlers: Parameters<Stage["open"]>[0] = {
        useModel: async ({ model, messages }, emit) => {
          expect([model, messages]).toEqual(["debug/echo", [{ role: "user", content: "hi" }]]);
          await emit({ type: "delta", text: "h" });
          await emit({ type: "delta", text: "i" });
          await emit({ type: "message", content: [{ type: "text", text: "hi" }] });
          await emit({ type: "usage", input_tokens: 1, output_tokens: 2 });
          return { status: "ok" };
        },
      };
      const { frames, outcome } = await asking(handlers, "model");
      expect(frames).toEqual(["delta", "delta", "message"]);
      const text = JSON.stringify(["hi", { inputTokens: 1, outputTokens: 2 }]);
      expect(outcome).toEqual({ kind: "message", text });
    });

    test("a refusal, an error of the model and a missing socket are errors with codes", async () => {
      const cases: readonly (readonly [RunSocketHandlers["useModel"], string])[] = [
        [async () => fail("EACCES", "model is refused"), "model is refused [EACCES]\n"],
        [
          async (_request, emit) => {
            await emit({ type: "error", code: "EIO", message: "the model broke" });
            return { status: "error", code: "EIO" };
          },
          "the model broke [EIO]\n",
        ],
        [async () => ({ status: "cancelled" }), 'model "debug/none": cancelled [EIO]\n'],
      ];
      for (const [useModel, said] of cases) {
        expect((await asking({ useModel }, "model-refused")).stderr).toBe(said);
      }
      expect((await run("model")).stderr).toContain("CTX_CONTROL_SOCKET is not set");
      const gone = await run("model", {}, { CTX_CONTROL_SOCKET: "/nowhere/control.sock" });
      expect(gone.stderr).toMatch(/^cannot ask the host: .* \[EHOSTDOWN\]\n$/);
    });

    test("a prompt is updated for the agent, session and run of the step", async () => {
      const seen: unknown[] = [];
      const handlers: Parameters<Stage["open"]>[0] = {
        update: async ({ request_id, op, ...rest }) => {
          seen.push(rest);
          return { request_id, ok: true, control: rest.control };
        },
      };
      expect((await asking(handlers, "update")).outcome).toEqual({
        kind: "message",
        text: "updated",
      });
      expect(seen).toEqual([{ ...own, control: "system.md", content: "Be careful.\n" }]);
      const long = await asking(handlers, "update-too-long");
      expect(long.stderr).toContain("[EMSGSIZE]");
    });
  });
}
