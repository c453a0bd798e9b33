import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startModelServer } from "../model-server/server.ts";
import { leftoversAfterGrace, sandboxes } from "./leftovers.ts";
import { RawClient } from "./raw-client.ts";
import { World } from "./world.ts";

const world = new World();
const key = "sk-main-path-7731";
const server = startModelServer({
  mode: "script",
  key,
  emptyNames: true,
  usage: { input: 11, output: 3 },
});

beforeAll(async () => {
  await world.bootstrap();
  writeFileSync(join(world.workspace, "a.txt"), "the content of a\n");
  mkdirSync(join(world.base, "config/providers.d"));
  const provider = {
    name: "loop",
    base_url: server.baseUrl,
    formats: ["openai.chat"],
    models: ["m"],
  };
  writeFileSync(join(world.base, "config/providers.d/loop.json"), JSON.stringify(provider));
  mkdirSync(join(world.base, "secrets/provider/loop"), { recursive: true, mode: 0o700 });
  chmodSync(join(world.base, "secrets/provider"), 0o700);
  const secret = join(world.base, "secrets/provider/loop/default");
  writeFileSync(secret, `${key}\n`, { mode: 0o600 });
  const object = join(world.source, "model/loop");
  mkdirSync(join(object, "m.d"), { recursive: true });
  writeFileSync(join(object, "m.d/id"), "m\n");
  writeFileSync(join(object, "m.d/driver"), "openai.chat\n");
  const runner = readFileSync(join(world.source, "model/debug/echo"), "utf8");
  writeFileSync(join(object, "m"), runner.replaceAll("debug/echo", "loop/m"), { mode: 0o755 });
  const policy = readFileSync(join(world.source, "agent/coder.d/policy"), "utf8");
  const widened = `${policy}allow coder_t model:loop/m use\n`;
  await world.run(["ctx", "set", "agent/coder.d/policy", widened]);
  await world.run(["ctx", "set", "agent/coder.d/model", "loop/m"]);
  // What waits for a next run is gone soon, so that a test sees its own sandboxes alone.
  await world.serve(["--set", "session_idle_ms=500"]);
});
afterAll(async () => {
  await world.destroy();
  await server.stop();
});

interface Body {
  messages: { role: string; content?: unknown; tool_calls?: { function: { name: string } }[] }[];
  tools: { function: { name: string; parameters: { type: string } } }[];
}

test("the answer comes from the model server, which saw the tools and then the tool's result", async () => {
  const input = '@call fs.read {"path":"/workspace/a.txt"}\n@say from the server: \n@result';
  const done = await world.run(["ctx", "agent", "send", "coder", "--session", "main", input]);
  expect([done.exit, done.stderr]).toEqual([0, expect.stringContaining("fs.read")]);
  expect(done.stdout).toContain("from the server: ");
  expect(done.stdout.split("the content of a").length).toBe(2);
  const [first, second] = server.requests.map((request) => request.body as unknown as Body);
  expect(first?.messages.map((message) => message.role)).toEqual(["system", "user"]);
  const offered = first?.tools.map((tool) => tool.function.name.replaceAll("_", "."));
  expect(offered).toEqual(expect.arrayContaining(["tsh", "fs.read", "shell.exec"]));
  expect(first?.tools.every((tool) => tool.function.parameters.type === "object")).toBe(true);
  const roles = second?.messages.map((message) => message.role);
  expect(roles).toEqual(["system", "user", "assistant", "tool"]);
  expect(JSON.stringify(second?.messages[3])).toContain("the content of a");
  expect(server.requests.length).toBe(2);
});

test("the session's files say what happened, in order and once", () => {
  const events = world.events("main");
  expect(events.map((event) => event["seq"])).toEqual(events.map((_, at) => at + 1));
  const types = events.map((event) => event["type"]).filter((type) => type !== "session.open");
  expect(types).toEqual([
    "request.accepted",
    "message",
    "run.start",
    "tool.call",
    "tool.result",
    "usage",
    "message",
    "run.done",
  ]);
  const usage = events.find((event) => event["type"] === "usage");
  expect(usage).toMatchObject({ input_tokens: 22, output_tokens: 6, object: "model/loop/m" });
  expect(world.messages("main").map((message) => message["role"])).toEqual(["user", "assistant"]);
});

test("a second message continues: the model is shown the first turn with its tool call", async () => {
  const before = server.requests.length;
  const done = await world.run(["ctx", "agent", "send", "coder", "--session", "main", "@say two"]);
  expect([done.exit, done.stdout]).toEqual([0, "two\n"]);
  const body = server.requests[before]?.body as unknown as Body;
  expect(body.messages.map((message) => message.role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
});

test("output of a running command is shown before the command ends", async () => {
  const input = '@call shell.exec {"cmd":"echo early; sleep 1; echo late"}\n@say end';
  const args = ["agent", "send", "coder", "--session", "live", "--raw", input];
  const child = Bun.spawn([join(world.dist, "ctx"), ...args], {
    cwd: world.workspace,
    env: world.env,
    stdout: "pipe",
  });
  const seen: string[] = [];
  for await (const chunk of child.stdout) {
    for (const line of new TextDecoder().decode(chunk).split("\n").filter(Boolean)) {
      const frame = JSON.parse(line) as { type: string; text?: string };
      seen.push(frame.type === "tool_delta" ? `tool_delta ${frame.text}` : frame.type);
    }
  }
  expect(await child.exited).toBe(0);
  const [early, late] = ["tool_delta early\n", "tool_delta late\n"];
  expect(seen.filter((each) => each === early || each === late)).toEqual([early, late]);
  expect(seen.indexOf(late)).toBeLessThan(seen.indexOf("tool_result"));
});

test("cancel from another process ends the run and everything it started", async () => {
  const input = '@call shell.exec {"cmd":"sleep 600 & sleep 600"}\n@say end';
  const args = ["agent", "send", "coder", "--session", "stop", "--raw", input];
  const child = Bun.spawn([join(world.dist, "ctx"), ...args], {
    cwd: world.workspace,
    env: world.env,
    stdout: "pipe",
    stderr: "pipe",
  });
  let text = "";
  let cancelled = false;
  for await (const chunk of child.stdout) {
    text += new TextDecoder().decode(chunk);
    const call = text.split("\n").find((line) => line.includes('"tool_call"'));
    if (call === undefined || text.includes('"done"') || cancelled) continue;
    cancelled = true;
    const run = (JSON.parse(call) as { run: string }).run;
    expect((await world.run(["ctx", "agent", "cancel", "coder", run])).exit).toBe(0);
  }
  expect(await child.exited).toBe(130);
  expect(world.events("stop").at(-1)).toMatchObject({ type: "run.done", status: "cancelled" });
  expect(await leftoversAfterGrace(world)).toEqual([]);
});

test("a run cancelled while the model thinks leaves no sandbox that waited for its next call", async () => {
  expect(await leftoversAfterGrace(world)).toEqual([]);
  const client = new RawClient(`${world.source}/agent/coder.sock`, world.uid).send({
    ...{ op: "send", id: "thinking", session: "thinking", workspace: world.workspace },
    input: '@call fs.stat {"path":"/workspace"}\n@delay 20000\n@say never',
  });
  await client.until((frame) => frame.type === "tool_result");
  const until = Date.now() + 10_000;
  while (sandboxes(world).length === 0 && Date.now() < until) await Bun.sleep(5);
  expect(sandboxes(world).length).toBe(1);
  const run = client.frames[0]?.run ?? "";
  expect((await world.run(["ctx", "agent", "cancel", "coder", run])).exit).toBe(0);
  expect(await client.done()).toMatchObject({ status: "cancelled" });
  while (sandboxes(world).length > 0 && Date.now() < until) await Bun.sleep(5);
  expect(sandboxes(world)).toEqual([]);
  expect(await leftoversAfterGrace(world)).toEqual([]);
});
