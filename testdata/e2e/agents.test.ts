// Executable agents through the compiled server: every way of going wrong with its exact end, once,
// and the agent as usable as before; the bytes and the environment that a real step gets.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { leftoversAfterGrace, sandboxes } from "./leftovers.ts";
import { answerOf, ProgramWorld, top } from "./program-world.ts";
import type { RawClient } from "./raw-client.ts";
import { isRoot } from "./world.ts";

setDefaultTimeout(120_000);

const world = new ProgramWorld();
const stepTimeoutMs = 15_000;
/** They do nothing but wait for their end, so they wait beside the others. */
const slow = ["a hang", "no end by SIGTERM"];
const started = new Map<string, RawClient>();
const sessionOf = (name: string) => name.replaceAll(/[^a-zA-Z0-9]+/g, "-");

/** A tool that answers what the golden observation says. */
function makeTool(): void {
  const folder = join(world.source, "tool/example.echo.d");
  mkdirSync(folder);
  world.give(folder, 0o755);
  world.write("tool/example.echo.d/name", "example.echo\n");
  world.write("tool/example.echo.d/description", "Says what it says.\n");
  world.write("tool/example.echo.d/schema", '{"type":"object"}\n');
  world.write("tool/example.echo.d/cap", "read\n");
  world.write("tool/example.echo.d/policy", "allow coder_t tool:example.echo execute\n");
  const text = "#!/bin/sh\nprintf %s 'authoritative normalized result'\n";
  world.write("tool/example.echo", text, 0o755);
}

beforeAll(async () => {
  await world.bootstrap();
  makeTool();
  const policy = readFileSync(join(world.source, "agent/coder.d/policy"), "utf8");
  world.makeAgent("bad", "bad.sh", { tools: "fs.list\n" });
  world.makeAgent("deaf", "deaf.sh");
  world.makeAgent("mirror", "mirror.sh", {
    tools: "example.echo\n",
    policy: `${policy}allow coder_t tool:example.echo execute\n`,
    env: "EDITOR=ed\n",
  });
  world.makeAgent("asker", "asker.sh", {
    model: "debug/echo\n",
    policy: `${policy}allow coder_t model:debug/script use\n`,
  });
  // What waits for a next run is gone soon, so that what is left over can be told from it.
  await world.serve(["--set", `step_timeout_ms=${stepTimeoutMs}`, "--set", "session_idle_ms=500"]);
  for (const name of slow) started.set(name, world.send("bad", sessionOf(name), name));
});
afterAll(() => world.destroy());

describe("an agent that", () => {
  const failure = (code: string) => ["user", `error ${code}`, `run.done ${code}`];
  const called = ["tool.call", "tool.result ok"];
  const table: [string, string, string[]][] = [
    ["no output", "EINVAL", failure("EINVAL")],
    ["two calls", "EINVAL", failure("EINVAL")],
    ["output after a call", "EINVAL", failure("EINVAL")],
    ["a forged tool_result", "EINVAL", failure("EINVAL")],
    ["a forged done", "EINVAL", failure("EINVAL")],
    ["a forged approval_request", "EINVAL", failure("EINVAL")],
    ["a forged start", "EINVAL", failure("EINVAL")],
    ["a call id twice", "EALREADY", ["user", ...called, "error EALREADY", "run.done EALREADY"]],
    [
      "an undeclared tool",
      "ok",
      ["user", "tool.call", "tool.result EACCES", "assistant", "run.done ok"],
    ],
    ["a name with a slash", "EINVAL", failure("EINVAL")],
    ["a long line", "EMSGSIZE", failure("EMSGSIZE")],
    ["much output", "EMSGSIZE", failure("EMSGSIZE")],
    ["invalid UTF-8", "EINVAL", failure("EINVAL")],
    ["a half line", "EINVAL", failure("EINVAL")],
    ["exit 1 after a message", "EIO", failure("EIO")],
    ["a signal", "EIO", failure("EIO")],
    ["a closed pipe", "EIO", failure("EIO")],
    ["a hang", "ETIMEDOUT", failure("ETIMEDOUT")],
    ["a daemon that holds the output", "ok", ["user", "assistant", "run.done ok"]],
    ["a fork bomb", "ETIMEDOUT", failure("ETIMEDOUT")],
    ["no end by SIGTERM", "ETIMEDOUT", failure("ETIMEDOUT")],
  ];
  test.each(table)(
    "does %s ends with %s, once, and is usable afterwards",
    async (name, end, log) => {
      const session = sessionOf(name);
      const client = started.get(name) ?? world.send("bad", session, name);
      const done = await client.done();
      expect(done).toMatchObject(end === "ok" ? { status: "ok" } : { status: "error", code: end });
      expect(client.frames.filter(({ type }) => type === "done")).toHaveLength(1);
      const again = world.send("bad", session, "well", `again-${session}`);
      expect(await again.done()).toMatchObject({ status: "ok" });
      expect(answerOf(again)).toBe("well");
      expect(world.recorded("bad", session)).toEqual([...log, "user", "assistant", "run.done ok"]);
    },
  );

  test("left nothing running", async () => {
    const until = Date.now() + 10_000;
    while (sandboxes(world).length > 0 && Date.now() < until) await Bun.sleep(20);
    expect(sandboxes(world)).toEqual([]);
  });

  test("fails is told to the person with what it wrote, and its log has it", async () => {
    const done = await world.run(["ctx", "agent", "send", "bad", "exit 1 after a message"]);
    expect(done.exit).toBe(1);
    expect(done.stderr).toContain('it wrote "it broke"');
    const log = readFileSync(join(world.source, "agent/bad.d/log"), "utf8").trimEnd().split("\n");
    expect(JSON.parse(log.at(-1) as string)).toMatchObject({
      type: "step.stderr",
      text: "it broke\n",
    });
  });
});

test("an agent that never reads is answered for, also when much was to be read", async () => {
  const client = world.send("deaf", "deaf", "x".repeat(300_000));
  expect(await client.done()).toMatchObject({ status: "ok" });
  expect(answerOf(client)).toBe("not listening");
});

test("a cancel ends a step that ignores SIGTERM, and nothing of the run is recorded after", async () => {
  const client = world.send("bad", "stubborn", "no end by SIGTERM");
  const delta = await client.until(({ type }) => type === "delta");
  const cancel = world.connect("bad").send({ op: "cancel", id: delta?.run });
  expect(await cancel.done()).toMatchObject({ status: "cancelled" });
  expect(await client.done()).toMatchObject({ status: "cancelled" });
  const again = world.send("bad", "stubborn", "well", "again-stubborn");
  expect(await again.done()).toMatchObject({ status: "ok" });
  expect(world.recorded("bad", "stubborn")).toEqual([
    ...["user", "run.cancel", "run.done ECANCELED", "user", "assistant", "run.done ok"],
  ]);
});

describe("a real step", () => {
  const golden = (name: string, run: string) =>
    readFileSync(join(top, "abi/sdk-envelope/v1/accept", name), "utf8").replace("run-1", run);

  test("reads the golden bytes and has exactly the environment of its list", async () => {
    const client = world.send("mirror", "mirror", "original user input");
    const done = await client.done();
    expect(done).toMatchObject({ status: "ok" });
    const parts = (answerOf(client) ?? "").split(" ").map((part) => atob(part));
    const [first, firstEnv, second, secondEnv] = parts;
    const run = String(done?.run);
    expect(first).toBe(golden("invocation-first.json", run));
    expect(second).toBe(golden("invocation.json", run));
    const uid = world.uid;
    const environment = (step: number) =>
      [
        "CTX_AGENT=mirror",
        "CTX_AGENT_SUBJECT=coder_t",
        "CTX_CONTROL_SOCKET=/run/cortexfs/control.sock",
        `CTX_HOME=/ctx/home/${uid}`,
        `CTX_PATH=/ctx/tool:/ctx/home/${uid}/tool`,
        "CTX_ROOT=/ctx",
        `CTX_RUN_ID=${run}`,
        "CTX_SESSION=mirror",
        `CTX_STEP=${step}`,
        "EDITOR=ed",
        "HOME=/home/agent",
        "LANG=C.UTF-8",
        "LOGNAME=mirror",
        "PWD=/workspace",
        "SHELL=/bin/sh",
        "TERM=dumb",
        "USER=mirror",
      ].join("\n");
    const listed = (env = "") => env.split("\0").filter(Boolean).sort().join("\n");
    expect(listed(firstEnv)).toBe(environment(0));
    expect(listed(secondEnv)).toBe(environment(1));
  });

  test("asks a model through its host, and the usage is the run's", async () => {
    const client = world.send("asker", "asker", "ask it");
    expect(await client.done()).toMatchObject({ status: "ok" });
    expect(answerOf(client)).toBe("heard: from inside");
    const usage = world.events("asker", "asker").filter(({ type }) => type === "usage");
    expect(usage).toMatchObject([
      { object: "model/debug/script", input_tokens: 7, output_tokens: 2 },
    ]);
  });
});

test("the commands of a person work with such an agent", async () => {
  const sent = await world.run(["ctx", "agent", "send", "bad", "--session", "person", "well"]);
  expect([sent.exit, sent.stdout]).toEqual([0, "well\n"]);
  const history = await world.run(["ctx", "agent", "history", "bad", "--session", "person"]);
  expect([history.exit, history.stdout.match(/well/g)?.length]).toEqual([0, 2]);
  const status = await world.run(["ctx", "agent", "status", "bad", "--session", "person"]);
  expect([status.exit, status.stderr]).toEqual([0, ""]);
  const listed = await world.run(["ctx", "agent", "list"]);
  expect(listed.stdout).toMatch(/^bad\b.*executable/m);
  const doctor = await world.run(["ctx", "doctor"]);
  expect(doctor.stdout).toMatch(/^ok +agents +.*\bbad\b/m);
});

test("a chat with such an agent is a chat", async () => {
  const shown = Promise.withResolvers<void>();
  let text = "";
  const child = Bun.spawn([join(world.dist, "ctx"), "agent", "chat", "bad", "--session", "chat"], {
    cwd: world.workspace,
    env: { ...world.env, TERM: "xterm", NO_COLOR: "1" },
    terminal: {
      cols: 80,
      rows: 24,
      data(terminal, bytes) {
        const before = text;
        text += new TextDecoder().decode(bytes);
        if (!before.includes("bad> ") && text.includes("bad> ")) terminal.write("well\r");
        if (/\nwell\r\n[\s\S]*bad> /.test(text)) shown.resolve();
      },
    },
  });
  await shown.promise;
  child.terminal?.write("\x04");
  expect(await child.exited).toBe(0);
});

test("a program that may not be started is refused, with the reason", async () => {
  chmodSync(join(world.source, "agent/deaf"), 0o700);
  if (!isRoot) return console.log("SKIP: the file belongs to the uid that runs it");
  chownSync(join(world.source, "agent/deaf"), 0, 0);
  const client = world.send("deaf", "closed", "hello");
  expect(await client.done()).toMatchObject({ status: "error", code: "EACCES" });
  const error = client.frames.find(({ type }) => type === "error");
  expect(error?.["message"]).toContain("needs x to execute it");
});

test("a server that is killed leaves no step, and the run is closed and never resumed", async () => {
  const client = world.send("bad", "killed", "no end by SIGTERM");
  await client.until(({ type }) => type === "delta");
  await world.stop("SIGKILL");
  expect(await leftoversAfterGrace(world)).toEqual([]);
  await world.serve();
  const resumed = world.connect("bad").send({ op: "resume", session: "killed" });
  expect(await resumed.done()).toMatchObject({ status: "interrupted" });
  const again = world.send("bad", "killed", "well", "again-killed");
  expect(await again.done()).toMatchObject({ status: "ok" });
  const log = world.recorded("bad", "killed");
  expect(log.filter((one) => one.startsWith("run.done"))).toEqual([
    "run.done interrupted",
    "run.done ok",
  ]);
  expect(log.filter((one) => one === "assistant")).toHaveLength(1);
});

test("nothing is left of the world's processes once its server has stopped", async () => {
  await world.stop();
  expect(await leftoversAfterGrace(world)).toEqual([]);
  expect(existsSync(join(world.source, "agent/bad.sock"))).toBe(false);
});
