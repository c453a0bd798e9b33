import { afterAll, beforeEach, expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fail } from "../abi/mod.ts";
import type { ModelClient, ModelRequest } from "../model/mod.ts";
import { resolveModel, scriptClient } from "../model/mod.ts";
import { createExecutor } from "./executor.ts";
import { MemoryContext, TestWorld } from "./fakes.ts";

const world = new TestWorld();

beforeEach(() => {
  world.reset();
  aim("debug/script");
});
afterAll(() => world.close());

/** Lets the coder use exactly these models. */
function aim(...models: string[]): void {
  world.write("agent/coder.d/model", models.map((name) => `${name}\n`).join(""));
}

async function send(input: string, agent = "coder", change: object = {}) {
  const context = new MemoryContext(input, agent);
  const outcome = await createExecutor({ ...world.options, ...change })(context);
  return { context, outcome };
}

/** A resolver that remembers every request its clients get. */
function watching(requests: ModelRequest[]) {
  return (input: Parameters<typeof resolveModel>[0]): ModelClient => {
    const client = resolveModel(input);
    return {
      ...client,
      stream(request) {
        requests.push({ ...request, messages: [...request.messages] });
        return client.stream(request);
      },
    };
  };
}

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

test("tsh runs a visible tool by the same authority", async () => {
  const { context } = await send('@call tsh {"args":["fs.read","notes.md"]}\n@result');
  expect(context.messages()).toEqual(["launched"]);
  expect(world.launcher.requests[0]).toMatchObject({
    tool: { name: "fs.read" },
    args: { path: "notes.md" },
  });
});

test("tsh answers tools, which and help itself", async () => {
  const script = [
    '@calls [["tsh",{"args":["tools"]}],["tsh",{"args":["which","fs.read"]}],["tsh",{"args":["help","fs.stat"]}]]',
    "@say done",
  ].join("\n");
  const { context } = await send(script);
  const [tools, which, help] = context.outcomes().map((outcome) => outcome.output);
  expect(tools?.split("\n").map((line) => line.split("\t")[0])).toEqual([
    "fs.list",
    "fs.read",
    "fs.replace",
    "fs.stat",
    "fs.write",
    "shell.exec",
  ]);
  expect(which).toBe("/ctx/tool/fs.read");
  expect(help).toContain('"required"');
  expect(world.launcher.requests).toEqual([]);
});

test("a tool that is not declared is refused, and tsh is named as the way", async () => {
  world.write("agent/coder.d/tools", "fs.read\n");
  const { context } = await send('@call fs.list {"path":"."}\n@call made.up\n@say done');
  expect(context.outcomes()).toMatchObject([
    { status: "error", code: "EACCES" },
    { status: "error", code: "EACCES" },
  ]);
  expect(context.outcomes()[0]?.output).toContain('run it through tsh: {"args":["fs.list","{…}"]}');
  expect(world.launcher.requests).toEqual([]);
});

test("a declared tool that authority refuses is not offered", async () => {
  world.write("agent/coder.d/perm", "r--\n");
  const requests: ModelRequest[] = [];
  await send("@say x", "coder", { resolve: watching(requests) });
  expect(requests[0]?.tools.map((tool) => tool.name)).toEqual([
    "tsh",
    "fs.read",
    "fs.list",
    "fs.stat",
  ]);
});

test("a refused call says which layer refused and how to see all", async () => {
  world.write("agent/reviewer.d/model", "debug/script\n");
  const { context, outcome } = await send(
    '@call tsh {"args":["fs.write","a","b"]}\n@say done',
    "reviewer",
  );
  expect(outcome).toEqual({ status: "ok" });
  const [refused] = context.outcomes();
  expect(refused).toMatchObject({ status: "error", code: "EACCES" });
  expect(refused?.output).toContain('tool "fs.write" is refused for agent "reviewer": ');
  expect(refused?.output).toContain("see ctx policy explain reviewer tool:fs.write execute");
  expect(world.launcher.requests).toEqual([]);
});

test("authority is asked at each call, not once a run", async () => {
  world.launcher.answer = async () => {
    world.write("agent/coder.d/perm", "r--\n");
    return {};
  };
  const call = '@call shell.exec {"cmd":"true"}';
  const { context } = await send(`${call}\n${call}\n@say done`);
  expect(context.outcomes().map((outcome) => outcome.status)).toEqual(["ok", "error"]);
  expect(world.launcher.requests).toHaveLength(1);
});

test("input that breaks the schema launches nothing", async () => {
  const { context } = await send('@call fs.read {"path":1}\n@call fs.read {"pth":"a"}\n@say done');
  expect(context.outcomes()).toMatchObject([{ code: "EINVAL" }, { code: "EINVAL" }]);
  expect(context.outcomes()[0]?.output).toContain("/path must be string");
  expect(world.launcher.requests).toEqual([]);
});

test("arguments that are no JSON are recorded as said and launch nothing", async () => {
  const { context, outcome } = await send("@bad-args fs.read {path:\n@say done");
  expect(outcome).toEqual({ status: "ok" });
  expect(context.records[0]).toMatchObject({ type: "call", args: "{path:" });
  expect(context.outcomes()).toMatchObject([{ status: "error", code: "EINVAL" }]);
  expect(world.launcher.requests).toEqual([]);
});

test("arguments past their bound are not kept", async () => {
  const big = "x".repeat(800 * 1024);
  const { context } = await send(`@call fs.write {"path":"a","content":"${big}"}\n@say done`);
  expect(context.records[0]).toMatchObject({
    args: { omitted: expect.stringContaining("characters") },
  });
  expect(context.outcomes()).toMatchObject([{ code: "EMSGSIZE" }]);
});

test("approval that nobody can give refuses", async () => {
  world.write("agent/coder.d/approval", "ask\n");
  const { context } = await send('@call fs.read {"path":"a"}\n@say done');
  expect(context.outcomes()).toMatchObject([{ status: "error", code: "EACCES" }]);
  expect(context.outcomes()[0]?.output).toContain("nobody can answer");
  expect(world.launcher.requests).toEqual([]);
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

test("a failed launch is a result and the run goes on", async () => {
  world.launcher.answer = async () => fail("EHOSTDOWN", "no bubblewrap", { hint: "install it" });
  const { context, outcome } = await send('@call shell.exec {"cmd":"id"}\n@say done');
  expect(outcome).toEqual({ status: "ok" });
  expect(context.outcomes()).toEqual([
    {
      status: "error",
      code: "EHOSTDOWN",
      output: "no bubblewrap [EHOSTDOWN]\nhint: install it",
      dropped: 0,
    },
  ]);
});

test("a .git that a call made is told to the model and to the person", async () => {
  world.launcher.answer = async () => ({ output: "ok", newGit: ["/workspace/sub/.git"] });
  const { context } = await send('@call shell.exec {"cmd":"git init sub"}\n@say done');
  expect(context.outcomes()[0]?.output).toContain("/workspace/sub/.git");
  expect(context.records.some((record) => record.type === "note")).toBe(true);
});

test("a command's own time limit is passed on", async () => {
  await send('@call shell.exec {"cmd":"true","timeout_ms":1234}\n@say done');
  expect(world.launcher.requests[0]?.timeoutMs).toBe(1234);
});

test("the network is granted by policy alone", async () => {
  const policy = await Bun.file(join(world.source, "agent/coder.d/policy")).text();
  world.write("agent/coder.d/policy", `${policy}allow coder_t network:default connect\n`);
  await send('@call shell.exec {"cmd":"true"}\n@say done');
  expect(world.launcher.requests[0]?.network).toBe(true);
});

test("the view holds exactly what the agent may execute", async () => {
  world.write("agent/reviewer.d/model", "debug/script\n");
  await send('@call fs.read {"path":"a"}\n@say done', "reviewer");
  const names = world.launcher.requests[0]?.visible.map((tool) => tool.name);
  expect(names).toContain("fs.read");
  expect(names).not.toContain("fs.write");
  expect(names).not.toContain("shell.exec");
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

test("a model that policy does not allow is refused and explained", async () => {
  world.model("other/one", "debug.echo");
  aim("other/one");
  const { outcome } = await send("hello");
  expect(outcome).toMatchObject({ status: "error", code: "EACCES" });
  expect(outcome.status === "error" && outcome.message).toContain(
    "see ctx policy explain coder model:other/one use",
  );
});

test("a candidate that fails is noted and the next answers", async () => {
  aim("gone/away", "debug/script", "debug/echo");
  const { outcome, context } = await send("@error EHOSTDOWN no server");
  expect(outcome).toEqual({ status: "ok" });
  expect(context.records).toMatchObject([
    { type: "note", object: "model/gone/away" },
    { type: "note", code: "EHOSTDOWN", object: "model/debug/script" },
    { type: "message", text: "@error EHOSTDOWN no server" },
  ]);
  const text = context.records[1]?.type === "note" ? context.records[1].text : "";
  expect(text).toContain("no server");
});

test("a model's own fallback is tried after the list", async () => {
  world.write("model/debug/script.d/fallback", "debug/echo\n");
  const { outcome, context } = await send("@error EHOSTDOWN x");
  expect(outcome).toEqual({ status: "ok" });
  expect(context.messages()).toEqual(["@error EHOSTDOWN x"]);
});

test("when all fail the last reason is the run's error", async () => {
  aim("gone/away", "debug/script");
  const { outcome } = await send("@error EHOSTDOWN no server");
  expect(outcome).toEqual({
    status: "error",
    code: "EHOSTDOWN",
    message: "none of 2 models answered, the last: no server",
  });
});

test("no other candidate after output was streamed", async () => {
  aim("debug/script", "debug/echo");
  const { outcome, context } = await send("@say half\n@error EHOSTDOWN gone");
  expect(outcome).toMatchObject({ status: "error", code: "EHOSTDOWN" });
  expect(context.records).toEqual([]);
});

test("no other candidate after an answer consumed a tool result", async () => {
  aim("debug/script", "debug/echo");
  const stat = '@call fs.stat {"path":"a"}';
  const consumed = await send(`${stat}\n${stat}\n@error EHOSTDOWN gone`);
  expect(consumed.outcome).toEqual({ status: "error", code: "EHOSTDOWN", message: "gone" });
  // One result that no answer has consumed yet does not bind the run to its model.
  const open = await send(`${stat}\n@error EHOSTDOWN gone`);
  expect(open.outcome).toEqual({ status: "ok" });
});

test("a malformed script is the person's error, not a reason for another model", async () => {
  aim("debug/script", "debug/echo");
  expect((await send("@nonsense")).outcome).toMatchObject({ status: "error", code: "EINVAL" });
});

test("an alias is resolved when it is used", async () => {
  aim("main");
  rmSync(join(world.source, "model/main"), { force: true });
  symlinkSync("debug/script", join(world.source, "model/main"));
  const { context } = await send("@say by alias");
  expect(context.messages()).toEqual(["by alias"]);
  rmSync(join(world.source, "model/main"));
  // Nobody else in this file uses the alias.
  expect((await send("x")).outcome).toMatchObject({ status: "error", code: "ENOENT" });
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
