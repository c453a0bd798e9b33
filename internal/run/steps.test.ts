// The step loop with a launcher that plays the program: what is told to each step, what is made of
// its frames, and how each way of going wrong ends the run.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StepOutcome } from "../launch/mod.ts";
import { createExecutor } from "./executor.ts";
import { printing, saying } from "./fake-launcher.ts";
import { MemoryContext } from "./fakes.ts";
import { calling, ProgramWorld } from "./program-world.ts";

const world = new ProgramWorld();
const { launcher, play, invocations, program } = world;

beforeEach(() => world.reset());
afterAll(() => world.close());

const send = (input = "go", change = {}) => world.send(input, "prog", change);

describe("a run of steps", () => {
  test("shows deltas at once, records message and usage once", async () => {
    play([
      { type: "delta", text: "he" },
      { type: "reasoning_delta", text: "why" },
      { type: "delta", text: "y" },
      { type: "usage", input_tokens: 3, output_tokens: 1 },
      { type: "usage", input_tokens: 2, output_tokens: 1 },
      saying("hey"),
    ]);
    const { context, outcome } = await send();
    expect(outcome).toEqual({ status: "ok" });
    expect(context.live).toEqual(["he", "(why)", "y"]);
    expect(context.records).toEqual([
      { type: "usage", model: undefined, input: 5, output: 2 },
      { type: "message", text: "hey" },
    ]);
    expect(context.phases).toEqual(["step 0 null"]);
  });

  test("makes the call of a step and tells the next one its result, under the agent's own id", async () => {
    play(
      [saying("first I look"), calling("mine-1")],
      [calling("mine-2", "fs.nothing")],
      [saying("so")],
    );
    launcher.answer = async () => ({ output: "content of a" });
    const { context, outcome } = await send("look");
    expect(outcome).toEqual({ status: "ok" });
    expect(context.records).toMatchObject([
      { type: "message", text: "first I look" },
      { type: "call", id: "call-2", own: "mine-1", name: "fs.read", args: { path: "a" } },
      { type: "result", id: "call-2", outcome: { status: "ok", output: "content of a" } },
      { type: "call", id: "call-4", own: "mine-2", name: "fs.nothing" },
      { type: "result", id: "call-4", outcome: { status: "error", code: "EACCES" } },
      { type: "message", text: "so" },
    ]);
    const told = invocations();
    expect(told.map(({ step, input, run }) => [step, input, run])).toEqual([
      [0, "look", context.run],
      [1, "look", context.run],
      [2, "look", context.run],
    ]);
    expect(told.map(({ observation }) => observation)).toMatchObject([
      null as never,
      {
        tool_call_id: "mine-1",
        name: "fs.read",
        status: "ok",
        content: "content of a",
        truncated: false,
      },
      { tool_call_id: "mine-2", name: "fs.nothing", status: "error", truncated: false },
    ]);
    expect(told[2]?.observation?.content).toContain('not declared for agent "prog"');
  });

  test("a result past the bound of an observation is cut and says so", async () => {
    play([calling("c1")], [saying("so")]);
    launcher.answer = async () => ({ output: "x".repeat(20_000) });
    await send();
    const [, second] = invocations();
    expect(second?.observation).toMatchObject({ truncated: true, content: "x".repeat(16_384) });
  });

  test("text that is no Unicode reaches the next step as what can be sent", async () => {
    play([calling("c1")], [saying("so")]);
    launcher.answer = async () => ({ output: "a\ud800b" });
    expect((await send()).outcome).toEqual({ status: "ok" });
    expect(invocations()[1]?.observation?.content).toBe("a\ufffdb");
  });

  test("the launch is of the program, with the run's identity and its own limits", async () => {
    await send("go", { stepTimeoutMs: 4321 });
    const [request] = launcher.steps;
    expect(request).toMatchObject({
      agent: "prog",
      session: "default",
      workspace: "/tmp/workspace",
      program: { viewPath: "/ctx/agent/prog", hostPath: program },
      step: 0,
      window: undefined,
      timeoutMs: 4321,
      network: false,
    });
    expect(new TextDecoder().decode(request?.stdin)).toEndWith('"observation":null}\n');
  });

  test("a new .git that a step made is noted, as for a call", async () => {
    launcher.program = async (request, io) => ({
      ...(await printing(saying("made"))(request, io)),
      newGit: ["/workspace/.git"],
    });
    const { context } = await send();
    expect(context.records).toMatchObject([
      { type: "note", code: "EACCES", text: expect.stringContaining("/workspace/.git") },
      { type: "message", text: "made" },
    ]);
  });

  test("a sandbox for the first step of the next run is kept, unless the run failed", async () => {
    const { context } = await send();
    expect(launcher.standbys).toEqual([`rest ${context.session}`]);
    launcher.standbys.length = 0;
    play([]);
    await send();
    expect(launcher.standbys).toEqual([`discard ${context.session}`]);
  });

  test("eight calls and nine steps are a run, a ninth call ends it", async () => {
    launcher.program = (request, io) =>
      printing(request.step < 8 ? calling(`c${request.step}`) : saying("done"))(request, io);
    const whole = await send();
    expect(whole.outcome).toEqual({ status: "ok" });
    expect([launcher.steps.length, whole.context.outcomes().length]).toEqual([9, 8]);
    launcher.reset();
    launcher.program = (request, io) => printing(calling(`c${request.step}`))(request, io);
    const { outcome, context } = await send();
    expect(outcome).toMatchObject({ status: "error", code: "EMSGSIZE" });
    expect([launcher.steps.length, context.outcomes().length]).toEqual([9, 8]);
  });

  test("a call id that was used is refused before anybody asks whether the call is allowed", async () => {
    play([calling("same")], [calling("same", "fs.undeclared")]);
    const { outcome, context } = await send();
    expect(outcome).toMatchObject({ status: "error", code: "EALREADY" });
    expect(context.records.map(({ type }) => type)).toEqual(["call", "result"]);
  });
});

describe("a step that fails ends the run, once", () => {
  const ends: [string, Partial<StepOutcome>, readonly object[], string, string][] = [
    ["prints nothing", {}, [], "EINVAL", "neither a tool call nor a message"],
    ["exits 1 after a message", { exit: 1 }, [saying("x")], "EIO", "exited 1"],
    ["is ended by a signal", { exit: 137 }, [saying("x")], "EIO", "exited 137"],
    [
      "takes too long",
      { exit: undefined, stopped: "timeout" },
      [saying("x")],
      "ETIMEDOUT",
      "longer than 60000 ms",
    ],
    ["is stopped", { exit: undefined, stopped: "cancelled" }, [], "ECANCELED", "stopped"],
    [
      "cannot be launched",
      { exit: undefined, code: "EHOSTDOWN", message: "bwrap is missing" },
      [],
      "EHOSTDOWN",
      "bwrap is missing",
    ],
    ["prints done", {}, [{ type: "done", status: "ok" }], "EINVAL", "only the host does"],
  ];
  test.each(ends)("that %s", async (_name, end, frames, code, text) => {
    launcher.program = async (request, io) => ({
      ...(await printing(...frames)(request, io)),
      ...end,
    });
    const { outcome, context } = await send();
    expect(outcome).toMatchObject({ status: "error", code });
    const message = outcome.status === "error" ? outcome.message : "";
    expect(message).toStartWith('step 0 of agent "prog": ');
    expect(message).toContain(text);
    expect(context.records).toEqual([]);
  });

  test("and what it printed decides before how it ended", async () => {
    launcher.program = async (_request, io) => {
      expect(await io.onStdout(new TextEncoder().encode("no json\n"))).toBe("stop");
      return { exit: undefined, stopped: "reader" };
    };
    expect((await send()).outcome).toMatchObject({ status: "error", code: "EINVAL" });
  });

  test("and is charged for what it said it used", async () => {
    play([{ type: "usage", input_tokens: 3, output_tokens: 1 }]);
    const { context } = await send();
    expect(context.records).toEqual([{ type: "usage", model: undefined, input: 3, output: 1 }]);
  });

  test("and its standard error goes to the agent's log and, shortened, to the error", async () => {
    launcher.program = async () => ({ exit: 3, stderr: "trace\n\u001b[31mboom \u202e\n" });
    const { outcome } = await send();
    const message = outcome.status === "error" ? outcome.message : "";
    expect(message).toEndWith('; it wrote "\\u001b[31mboom \\u202e"');
    const log = readFileSync(join(world.source, "agent/prog.d/log"), "utf8");
    expect(JSON.parse(log)).toMatchObject({
      type: "step.stderr",
      session: "default",
      step: 0,
      exit: 3,
      text: "trace\n\u001b[31mboom \u202e\n",
    });
    expect(invocations().some((one) => JSON.stringify(one).includes("boom"))).toBe(false);
  });
});

describe("a cancel", () => {
  const cancelled = { status: "error", code: "ECANCELED", message: "the run was cancelled" };

  test("before a step starts none", async () => {
    const context = new MemoryContext("go", "prog");
    context.controller.abort();
    expect(await createExecutor(world.options)(context)).toEqual(cancelled as never);
    expect(launcher.steps).toEqual([]);
  });

  test("during a step reaches its process, and nothing is recorded of what it printed", async () => {
    const context = new MemoryContext("go", "prog");
    launcher.program = async (request, io) => {
      await printing(saying("late"))(request, io);
      context.controller.abort();
      expect(io.signal.aborted).toBe(true);
      return { exit: undefined, stopped: "cancelled", stderr: "bye" };
    };
    expect(await createExecutor(world.options)(context)).toEqual(cancelled as never);
    expect([context.records, existsSync(join(world.source, "agent/prog.d/log"))]).toEqual([
      [],
      false,
    ]);
  });

  test("after a step that yielded a call leaves the call unmade", async () => {
    const context = new MemoryContext("go", "prog");
    launcher.program = async (request, io) => {
      await printing(calling("c1"))(request, io);
      context.controller.abort();
      return {};
    };
    expect(await createExecutor(world.options)(context)).toEqual(cancelled as never);
    expect([context.records, launcher.requests]).toEqual([[], []]);
  });

  test("during a call starts no further step", async () => {
    const context = new MemoryContext("go", "prog");
    play([calling("c1")]);
    launcher.answer = async () => {
      context.controller.abort();
      return {};
    };
    expect(await createExecutor(world.options)(context)).toEqual(cancelled as never);
    expect([context.records.map(({ type }) => type), launcher.steps.length]).toEqual([["call"], 1]);
  });
});
