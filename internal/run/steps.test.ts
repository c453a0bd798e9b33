// The step loop with a launcher that plays the program: what is told to each step, what is made of
// its frames, and how each way of going wrong ends the run.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Invocation } from "../envelope/mod.ts";
import type { StepOutcome, StepRequest } from "../launch/mod.ts";
import { createExecutor } from "./executor.ts";
import { MemoryContext, printing, saying, TestWorld } from "./fakes.ts";

const world = new TestWorld();
const { launcher } = world;
const program = join(world.source, "agent/prog");

/** Makes an executable agent with the controls of the bootstrapped coder. */
function makeAgent(): void {
  const folder = join(world.source, "agent/prog.d");
  mkdirSync(folder, { recursive: true });
  const controls = "owner uid gid groups perm label path policy abi model window".split(" ");
  for (const control of controls) {
    const from = join(world.source, "agent/coder.d", control);
    if (existsSync(from)) writeFileSync(join(folder, control), readFileSync(from));
  }
  writeFileSync(join(folder, "tools"), "fs.read\nfs.write\n");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
  chmodSync(program, 0o755);
}

beforeEach(() => {
  world.reset();
  rmSync(join(world.source, "agent/prog.d"), { recursive: true, force: true });
  makeAgent();
});
afterAll(() => world.close());

const send = (input = "go", change = {}) => world.send(input, "prog", change);

const call = (id: string, name = "fs.read", args: object = { path: "a" }) => ({
  type: "tool_call",
  id,
  name,
  args,
});

/** Plays one list of frames a step, and the last one for all further steps. */
function play(...steps: readonly (readonly object[])[]): void {
  launcher.program = (request, io) => {
    const frames = steps[Math.min(request.step, steps.length - 1)] ?? [];
    return printing(...frames)(request, io);
  };
}

const invocations = () =>
  launcher.steps.map(({ stdin }) => JSON.parse(new TextDecoder().decode(stdin)) as Invocation);

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
    play([saying("first I look"), call("mine-1")], [call("mine-2", "fs.nothing")], [saying("so")]);
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
    play([call("c1")], [saying("so")]);
    launcher.answer = async () => ({ output: "x".repeat(20_000) });
    await send();
    const [, second] = invocations();
    expect(second?.observation).toMatchObject({ truncated: true, content: "x".repeat(16_384) });
  });

  test("text that is no Unicode reaches the next step as what can be sent", async () => {
    play([call("c1")], [saying("so")]);
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

  test("eight calls and nine steps are a run, a ninth call ends it", async () => {
    launcher.program = (request, io) =>
      printing(request.step < 8 ? call(`c${request.step}`) : saying("done"))(request, io);
    const whole = await send();
    expect(whole.outcome).toEqual({ status: "ok" });
    expect([launcher.steps.length, whole.context.outcomes().length]).toEqual([9, 8]);
    launcher.reset();
    launcher.program = (request, io) => printing(call(`c${request.step}`))(request, io);
    const { outcome, context } = await send();
    expect(outcome).toMatchObject({ status: "error", code: "EMSGSIZE" });
    expect([launcher.steps.length, context.outcomes().length]).toEqual([9, 8]);
  });

  test("a call id that was used is refused before anybody asks whether the call is allowed", async () => {
    play([call("same")], [call("same", "fs.undeclared")]);
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

describe("what may be started", () => {
  const refused = async (code: string, text: string) => {
    const { outcome } = await send();
    expect(outcome).toMatchObject({ status: "error", code });
    expect(outcome.status === "error" && outcome.message).toContain(text);
    expect(launcher.steps).toEqual([]);
  };

  test("not a file without any x", async () => {
    chmodSync(program, 0o644);
    await refused("EACCES", "is not an executable file");
  });

  test("not a file that the agent's uid may not execute", async () => {
    chmodSync(program, 0o700);
    if (process.getuid?.() !== 0) return console.log("SKIP: needs a file of another uid");
    await refused("EACCES", "needs x to execute it");
  });

  test("not below a mount with noexec", async () => {
    world.write("agent/prog.d/mount", "/srv/x\t/ctx/agent\tro\tnoexec\n");
    await refused("EACCES", "which is mounted noexec");
  });

  test("not as another uid than the one that may write the identity", async () => {
    if (process.getuid?.() !== 0) return console.log("SKIP: only root could become another uid");
    world.write("agent/prog.d/uid", "0\n");
    await refused("EACCES", "uid is 0");
  });

  test("not with a window that the model does not allow; told the one that it does", async () => {
    world.model("debug/known", "debug.echo");
    world.write("model/debug/known.d/limit", "1000\n");
    world.write("agent/prog.d/model", "debug/known\n");
    await send();
    expect(launcher.steps[0]?.window).toEqual({ tokens: 1000, chars: 4000 });
    world.write("agent/prog.d/window", "400\n");
    await send();
    expect(launcher.steps[1]?.window).toEqual({ tokens: 400, chars: 1600 });
    launcher.reset();
    world.write("agent/prog.d/window", "2000\n");
    await refused("EINVAL", "its maximum is 1000");
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
      await printing(call("c1"))(request, io);
      context.controller.abort();
      return {};
    };
    expect(await createExecutor(world.options)(context)).toEqual(cancelled as never);
    expect([context.records, launcher.requests]).toEqual([[], []]);
  });

  test("during a call starts no further step", async () => {
    const context = new MemoryContext("go", "prog");
    play([call("c1")]);
    launcher.answer = async () => {
      context.controller.abort();
      return {};
    };
    expect(await createExecutor(world.options)(context)).toEqual(cancelled as never);
    expect([context.records.map(({ type }) => type), launcher.steps.length]).toEqual([["call"], 1]);
  });
});

describe("between two calls of one run", () => {
  /** The same call twice; `between` happens before the second. Gives the codes of both results. */
  async function codes(between: () => void, name = "fs.write", args = { path: "a", content: "" }) {
    launcher.program = (request: StepRequest, io) => {
      if (request.step === 1) between();
      const frame = request.step < 2 ? call(`c${request.step}`, name, args) : saying("so");
      return printing(frame)(request, io);
    };
    const { outcome, context } = await send();
    expect(outcome).toEqual({ status: "ok" });
    return context.outcomes().map(({ status, code }) => code ?? status);
  }

  test("perm takes effect", async () => {
    expect(await codes(() => world.write("agent/prog.d/perm", "r-x\n"))).toEqual(["ok", "EACCES"]);
  });

  test("the agent's policy takes effect", async () => {
    expect(await codes(() => world.write("agent/prog.d/policy", ""))).toEqual(["ok", "EACCES"]);
  });

  test("the tool's policy takes effect", async () => {
    expect(await codes(() => world.write("tool/fs.write.d/policy", ""))).toEqual(["ok", "EACCES"]);
  });

  test("the path takes effect", async () => {
    const other = () => world.write("agent/prog.d/path", "/ctx/shared/none/tool\n");
    const [first, second] = await codes(other);
    expect([first, ["ENOENT", "EACCES"].includes(second as string)]).toEqual(["ok", true]);
  });

  test("a mount takes effect", async () => {
    const noexec = "/srv/x\t/ctx/tool\tro\tnoexec\n";
    expect(await codes(() => world.write("agent/prog.d/mount", noexec))).toEqual(["ok", "EACCES"]);
  });

  test("the tool's file takes effect", async () => {
    const tool = join(world.source, "tool/fs.write");
    const [first, second] = await codes(() => chmodSync(tool, 0o644));
    chmodSync(tool, 0o755);
    expect([first, ["ENOENT", "EACCES"].includes(second as string)]).toEqual(["ok", true]);
  });

  test("the list of declared tools takes effect", async () => {
    expect(await codes(() => world.write("agent/prog.d/tools", ""))).toEqual(["ok", "EACCES"]);
  });

  test("the program's own file takes effect: the run ends before it is started", async () => {
    launcher.program = async (request, io) => {
      chmodSync(program, 0o644);
      return printing(call("c1"))(request, io);
    };
    const { outcome, context } = await send();
    expect(outcome).toMatchObject({ status: "error", code: "EACCES" });
    // The call is decided from the files too, and the agent is none any more.
    expect([launcher.steps.length, context.records]).toEqual([1, []]);
  });
});
