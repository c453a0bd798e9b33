import { afterAll, beforeEach, expect, test } from "bun:test";
import { type ModelClient, type ModelRequest, scriptClient } from "../model/mod.ts";
import type { HistoryItem } from "../session/mod.ts";
import { createExecutor } from "./executor.ts";
import { MemoryContext, TestWorld, watching } from "./fakes.ts";

const world = new TestWorld();
const { aim, send } = world;

beforeEach(() => {
  world.reset();
  aim("debug/script");
});
afterAll(() => world.close());

test("text is streamed, recorded once and the run is ok", async () => {
  const { context, outcome } = await send("@say hello\n@usage 7 2");
  expect(outcome).toEqual({ status: "ok" });
  expect(context.live.join("")).toBe("hello");
  expect(context.records).toEqual([
    { type: "usage", model: "debug/script", input: 7, output: 2 },
    { type: "message", text: "hello" },
  ]);
  expect(context.phases).toEqual(["model 0 debug/script"]);
});

test("a declared tool runs between its call and its result", async () => {
  world.launcher.answer = async (_request, io) => {
    io.onOutput("live");
    return { output: "content of a" };
  };
  const { context, outcome } = await send('@say look\n@call fs.read {"path":"a"}\n@result');
  expect(outcome).toEqual({ status: "ok" });
  expect(context.records).toEqual([
    { type: "call", id: "call-1", name: "fs.read", args: { path: "a" } },
    {
      type: "result",
      id: "call-1",
      name: "fs.read",
      outcome: { status: "ok", output: "content of a", dropped: 0 },
    },
    { type: "message", text: "content of a" },
  ]);
  expect(context.live).toEqual(["look", "call-1:live", "content of a"]);
  expect(world.launcher.requests).toHaveLength(1);
  expect(world.launcher.requests[0]).toMatchObject({
    agent: "coder",
    session: "default",
    home: "/tree/home/1000/agent/coder",
    workspace: "/tmp/workspace",
    tool: { name: "fs.read" },
    args: { path: "a" },
    network: false,
    timeoutMs: 60_000,
  });
});

test("the second request carries call and result under the host's ids", async () => {
  const requests: ModelRequest[] = [];
  await send('@call fs.read {"path":"a"}\n@say done', "coder", { resolve: watching(requests) });
  expect(requests).toHaveLength(2);
  expect(requests[0]?.messages.map((message) => message.role)).toEqual(["system", "user"]);
  expect(requests[0]?.tools.map((tool) => tool.name)).toEqual([
    "tsh",
    "fs.read",
    "fs.list",
    "fs.stat",
    "fs.write",
    "fs.replace",
    "shell.exec",
  ]);
  expect(requests[1]?.messages.slice(2)).toEqual([
    {
      role: "assistant",
      text: "",
      calls: [{ id: "call-1", name: "fs.read", args: { path: "a" } }],
    },
    { role: "tool", call: "call-1", name: "fs.read", status: "ok", content: "launched" },
  ]);
});

test("history comes before the input, the contract before both", async () => {
  const requests: ModelRequest[] = [];
  const context = new MemoryContext("now");
  context.past = [
    { kind: "user", run: "r", text: "before" },
    { kind: "assistant", run: "r", text: "answered" },
  ];
  await createExecutor({ ...world.options, resolve: watching(requests) })(context);
  const [system, ...rest] = requests[0]?.messages ?? [];
  expect(system).toMatchObject({ role: "system" });
  const text = system?.role === "system" ? system.text : "";
  expect(text).toContain("Your only native callable tool is tsh.");
  expect(text).toContain("directly callable: fs.read, fs.list, fs.stat, fs.write");
  expect(rest.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
});

test("several calls of one answer run one after another", async () => {
  let running = 0;
  world.launcher.answer = async (request) => {
    running += 1;
    expect(running).toBe(1);
    await Promise.resolve();
    running -= 1;
    return { output: String((request.args as { path: string }).path) };
  };
  const { context } = await send(
    '@calls [["fs.read",{"path":"a"}],["fs.read",{"path":"b"}],["fs.read",{"path":"c"}]]\n@say done',
  );
  expect(context.records.map((record) => record.type)).toEqual([
    "call",
    "result",
    "call",
    "result",
    "call",
    "result",
    "message",
  ]);
  expect(context.outcomes().map((outcome) => outcome.output)).toEqual(["a", "b", "c"]);
});

test("an answer with neither text nor call is EIO", async () => {
  const { outcome, context } = await send("@usage 1 1");
  expect(outcome).toMatchObject({ status: "error", code: "EIO" });
  expect(outcome.status === "error" && outcome.message).toStartWith("the model answered nothing");
  expect(context.records).toEqual([{ type: "usage", model: "debug/script", input: 1, output: 1 }]);
});

test("the bound of steps is reached and named", async () => {
  const script = '@call fs.stat {"path":"a"}\n'.repeat(20);
  const { outcome, context } = await send(script, "coder", { modelSteps: 3 });
  expect(outcome).toMatchObject({ status: "error", code: "EMSGSIZE" });
  expect(outcome.status === "error" && outcome.message).toContain("its bound of 3 model steps");
  expect(context.outcomes()).toHaveLength(3);
});

test("a cancel during the model's answer records nothing more", async () => {
  const context = new MemoryContext("@say one\n@delay 60000\n@say two");
  const running = createExecutor(world.options)(context);
  const delta = context.delta.bind(context);
  context.delta = (text: string) => {
    delta(text);
    context.controller.abort();
  };
  expect(await running).toMatchObject({ status: "error", code: "ECANCELED" });
  expect(context.records).toEqual([]);
});

test("a cancel during a call leaves no result", async () => {
  const context = new MemoryContext('@call shell.exec {"cmd":"sleep 600"}\n@say done');
  world.launcher.answer = async (_request, io) => {
    context.controller.abort();
    expect(io.signal.aborted).toBe(true);
    return { status: "error", output: "stopped" };
  };
  const outcome = await createExecutor(world.options)(context);
  expect(outcome).toMatchObject({ status: "error", code: "ECANCELED" });
  expect(context.records.map((record) => record.type)).toEqual(["call"]);
});

test("a malformed control ends the run with its place", async () => {
  world.write("agent/coder.d/perm", "rwz\n");
  const { outcome } = await send("hello");
  expect(outcome).toMatchObject({ status: "error", code: "EINVAL" });
  expect(outcome.status === "error" && outcome.message).toContain("agent/coder.d/perm");
});

test("a wrong template variable ends the run with its name", async () => {
  world.write("agent/coder.d/prompt.template.md", "{{agent}}\n{{nope}}\n");
  const { outcome } = await send("hello");
  expect(outcome).toMatchObject({ status: "error", code: "EINVAL" });
  expect(outcome.status === "error" && outcome.message).toContain('"nope"');
});

test("repeated call ids of a provider mean nothing", async () => {
  const inner = scriptClient("debug/script", undefined);
  const resolve = (): ModelClient => ({
    ...inner,
    async *stream(request) {
      for await (const event of inner.stream(request)) {
        yield event.type === "call" ? { ...event, id: "same" } : event;
      }
    },
  });
  const script = '@calls [["fs.read",{"path":"a"}],["fs.read",{"path":"b"}]]\n@say done';
  const { context, outcome } = await send(script, "coder", { resolve });
  expect(outcome).toEqual({ status: "ok" });
  const ids = context.records.flatMap((record) => (record.type === "call" ? [record.id] : []));
  expect(new Set(ids).size).toBe(2);
});

test("a sandbox is prepared where a call is likely, while a model thinks and for the next run", async () => {
  const seen = () => world.launcher.standbys.filter((line) => line.includes(" ahead"));
  /** Runs the script and gives back what was asked, once there is as much of it. */
  const asked = async (count: number, script: string, past: HistoryItem[] = []) => {
    const context = new MemoryContext(script, "coder", "ahead");
    context.past = past;
    const execute = createExecutor(world.options);
    execute.expect?.(context);
    await new Promise(setImmediate);
    await execute(context);
    while (seen().length < count) await Bun.sleep(1);
    const lines = seen();
    world.launcher.standbys.length = 0;
    return lines;
  };
  const rested = ["rest ahead", "prepare ahead to rest"];
  const call = '@call fs.read {"path":"a"}';
  const slow = `@delay 200\n${call}\n@delay 200\n@say done`;
  // Told of the input; at the model's pauses; and beside the record of a file tool's call.
  const four = Array<string>(4).fill("prepare ahead");
  expect(await asked(6, slow)).toEqual([...four, ...rested]);
  expect(await asked(3, `${call}\n@say done`)).toEqual(["prepare ahead", ...rested]);
  expect(await asked(2, "@say done")).toEqual(["prepare ahead", "leave ahead"]);
  expect(await asked(2, `${call}\n@error EIO broken`)).toEqual(["prepare ahead", "discard ahead"]);
  const talk: HistoryItem[] = [{ kind: "user", run: "r", text: "before" }];
  expect(await asked(1, "@delay 200\n@say hello", talk)).toEqual(["leave ahead"]);
});
