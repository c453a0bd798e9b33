// Executable agents through the compiled server: every way of going wrong with its exact end, once,
// and the agent as usable as before; the bytes and the environment that a real step gets.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { leftoversAfterGrace, sandboxes } from "./leftovers.ts";
import { RawClient } from "./raw-client.ts";
import { isRoot, World } from "./world.ts";

setDefaultTimeout(120_000);

const top = resolve(import.meta.dir, "../..");
const world = new World();
const opened: RawClient[] = [];
const stepTimeoutMs = 15_000;

function give(path: string, mode: number): void {
  chmodSync(path, mode);
  if (isRoot) chownSync(path, world.uid, world.uid);
}

function write(relative: string, text: string, mode = 0o644): void {
  const path = join(world.source, relative);
  writeFileSync(path, text);
  give(path, mode);
}

/** An agent with the coder's controls and a program of `testdata/agents`. */
function makeAgent(name: string, program: string, controls: Record<string, string> = {}): void {
  const from = join(world.source, "agent/coder.d");
  const folder = join(world.source, `agent/${name}.d`);
  mkdirSync(folder);
  give(folder, 0o755);
  const own = new Set(["log", "status", "pid", "meta.json", "system.md", "prompt.template.md"]);
  for (const control of readdirSync(from).filter((one) => !own.has(one))) {
    if (!statSync(join(from, control)).isFile()) continue;
    write(`agent/${name}.d/${control}`, readFileSync(join(from, control), "utf8"));
  }
  for (const [control, text] of Object.entries(controls)) {
    write(`agent/${name}.d/${control}`, text);
  }
  copyFileSync(join(top, "testdata/agents", program), join(world.source, "agent", name));
  give(join(world.source, "agent", name), 0o755);
}

/** A tool that answers what the golden observation says. */
function makeTool(): void {
  const folder = join(world.source, "tool/example.echo.d");
  mkdirSync(folder);
  give(folder, 0o755);
  write("tool/example.echo.d/name", "example.echo\n");
  write("tool/example.echo.d/description", "Says what it says.\n");
  write("tool/example.echo.d/schema", '{"type":"object"}\n');
  write("tool/example.echo.d/cap", "read\n");
  write("tool/example.echo.d/policy", "allow coder_t tool:example.echo execute\n");
  const text = "#!/bin/sh\nprintf %s 'authoritative normalized result'\n";
  write("tool/example.echo", text, 0o755);
}

beforeAll(async () => {
  await world.bootstrap();
  makeTool();
  const policy = readFileSync(join(world.source, "agent/coder.d/policy"), "utf8");
  makeAgent("bad", "bad.sh", { tools: "fs.list\n" });
  makeAgent("deaf", "deaf.sh");
  makeAgent("mirror", "mirror.sh", {
    tools: "example.echo\n",
    policy: `${policy}allow coder_t tool:example.echo execute\n`,
    env: "EDITOR=ed\n",
  });
  makeAgent("asker", "asker.sh", {
    model: "debug/echo\n",
    policy: `${policy}allow coder_t model:debug/script use\n`,
  });
  await world.serve(["--set", `step_timeout_ms=${stepTimeoutMs}`]);
});
afterAll(async () => {
  for (const client of opened) client.end();
  await world.destroy();
});

function connect(agent: string): RawClient {
  const client = new RawClient(join(world.source, `agent/${agent}.sock`), world.uid);
  opened.push(client);
  return client;
}

function send(agent: string, session: string, input: string, id = `msg-${session}`): RawClient {
  const { workspace } = world;
  return connect(agent).send({ op: "send", id, session, input, workspace });
}

/** What the session's files say of its runs, without times and ids. */
function recorded(agent: string, session: string): string[] {
  return world.events(session, agent).flatMap(({ type, code, status, role }) => {
    switch (type) {
      case "session.open":
      case "request.accepted":
      case "run.start":
        return [];
      case "message":
        return [`${role}`];
      default:
        return [[type, code ?? status].filter((part) => part !== undefined).join(" ")];
    }
  });
}

const answerOf = (client: RawClient) => {
  const said = client.frames.find(({ type, role }) => type === "message" && role === "assistant");
  return (said?.["content"] as { text: string }[] | undefined)?.[0]?.text;
};

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
  const sessionOf = (name: string) => name.replaceAll(/[^a-zA-Z0-9]+/g, "-");

  test.each(table)(
    "does %s ends with %s, once, and is usable afterwards",
    async (name, end, log) => {
      const session = sessionOf(name);
      const client = send("bad", session, name);
      const done = await client.done();
      expect(done).toMatchObject(end === "ok" ? { status: "ok" } : { status: "error", code: end });
      expect(client.frames.filter(({ type }) => type === "done")).toHaveLength(1);
      const again = send("bad", session, "well", `again-${session}`);
      expect(await again.done()).toMatchObject({ status: "ok" });
      expect(answerOf(again)).toBe("well");
      expect(recorded("bad", session)).toEqual([...log, "user", "assistant", "run.done ok"]);
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
  const client = send("deaf", "deaf", "x".repeat(300_000));
  expect(await client.done()).toMatchObject({ status: "ok" });
  expect(answerOf(client)).toBe("not listening");
});

test("a cancel ends a step that ignores SIGTERM, and nothing of the run is recorded after", async () => {
  const client = send("bad", "stubborn", "no end by SIGTERM");
  const delta = await client.until(({ type }) => type === "delta");
  const cancel = connect("bad").send({ op: "cancel", id: delta?.run });
  expect(await cancel.done()).toMatchObject({ status: "cancelled" });
  expect(await client.done()).toMatchObject({ status: "cancelled" });
  const again = send("bad", "stubborn", "well", "again-stubborn");
  expect(await again.done()).toMatchObject({ status: "ok" });
  expect(recorded("bad", "stubborn")).toEqual([
    ...["user", "run.cancel", "run.done ECANCELED", "user", "assistant", "run.done ok"],
  ]);
});

describe("a real step", () => {
  const golden = (name: string, run: string) =>
    readFileSync(join(top, "abi/sdk-envelope/v1/accept", name), "utf8").replace("run-1", run);

  test("reads the golden bytes and has exactly the environment of its list", async () => {
    const client = send("mirror", "mirror", "original user input");
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
    const client = send("asker", "asker", "ask it");
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

test("a program that may not be started is refused, with the reason", async () => {
  chmodSync(join(world.source, "agent/deaf"), 0o700);
  if (!isRoot) return console.log("SKIP: the file belongs to the uid that runs it");
  chownSync(join(world.source, "agent/deaf"), 0, 0);
  const client = send("deaf", "closed", "hello");
  expect(await client.done()).toMatchObject({ status: "error", code: "EACCES" });
  const error = client.frames.find(({ type }) => type === "error");
  expect(error?.["message"]).toContain("needs x to execute it");
});

test("nothing is left of the world's processes once its server has stopped", async () => {
  await world.stop();
  expect(await leftoversAfterGrace(world)).toEqual([]);
  expect(existsSync(join(world.source, "agent/bad.sock"))).toBe(false);
});
