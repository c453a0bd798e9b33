import { afterAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { fail } from "../abi/mod.ts";
import type { ModelRequest } from "../model/mod.ts";
import { TestWorld, watching } from "./fakes.ts";

const world = new TestWorld();
const { aim, send } = world;

beforeEach(() => {
  world.reset();
  aim("debug/script");
});
afterAll(() => world.close());

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
  const big = "x".repeat(1024 * 1024);
  const { context } = await send(`@call fs.write {"path":"a","content":"${big}"}\n@say done`);
  expect(context.records[0]).toMatchObject({
    args: { omitted: expect.stringContaining("bytes") },
  });
  expect(context.outcomes()).toMatchObject([{ code: "EMSGSIZE" }]);
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
