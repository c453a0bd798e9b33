// What programs of a run ask of their host, and what a person is asked about them, through the
// compiled server.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { answerOf, ProgramWorld } from "./program-world.ts";
import { dist } from "./world.ts";

setDefaultTimeout(60_000);

const world = new ProgramWorld();

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  for (const file of ["agent/coder.d/policy", "tool/agent.update.d/policy"]) {
    world.write(file, `${world.read(file)}allow coder_t tool:agent.update execute\n`);
  }
  world.makeAgent("requests", "requests.py", { perm: "r-x\n" });
  world.write("agent/requests.d/system.md", "Before.\n", 0o640);
  world.makeAgent("writer", "writer.sh", { tools: "fs.write\n", approval: "ask\n" });
  world.makeAgent("careful", "requests.py", { approval: "ask\n" });
  await world.serve();
});
afterAll(() => world.destroy());

const refusals = {
  repeated: "EALREADY",
  policy: "EINVAL",
  path: "EINVAL",
  "other agent": "EACCES",
  "other session": "EACCES",
  "other run": "EACCES",
  "too long": "EMSGSIZE",
  nul: "EINVAL",
  create: "EHOSTDOWN",
};

test("a program asks for itself, from a child and from a daemon too, and for nothing more", async () => {
  const client = world.send("requests", "asks", "ask");
  expect(await client.done()).toMatchObject({ status: "ok" });
  expect(JSON.parse(answerOf(client) ?? "")).toEqual({
    ...{ update: "ok", token: "ok", child: "ok", daemon: "ok" },
    ...refusals,
    ...{ read: "ok", write: "EACCES", nothing: "ENOENT" },
  });
  expect(world.read("agent/requests.d/system.md")).toBe("You are terse.\n");
  const facts = statSync(join(world.source, "agent/requests.d/system.md"));
  expect([facts.mode & 0o777, facts.uid]).toEqual([0o640, world.uid]);
  const updates = world.events("asks", "requests").filter(({ type }) => type === "agent.update");
  expect(updates.map(({ object }) => object)).toEqual([
    "agent/requests.d/system.md",
    "agent/requests.d/prompt.template.md",
    "agent/requests.d/system.md",
    "agent/requests.d/system.md",
  ]);
  const log = world.read("agent/requests.d/log").trimEnd().split("\n");
  expect(log.map((line) => JSON.parse(line)).map(({ tool, allowed }) => [tool, allowed])).toEqual([
    ["fs.read", true],
    ["fs.write", false],
    ["no.such", false],
  ]);
});

test("where a person is asked about calls, no tool is authorized behind their back", async () => {
  const client = world.send("careful", "careful", "ask");
  expect(await client.done()).toMatchObject({ status: "ok" });
  const said = JSON.parse(answerOf(client) ?? "");
  expect(said).toMatchObject({ update: "ok", read: "EACCES", write: "EACCES" });
});

test("a model agent improves its own prompt, and the next run shows it", async () => {
  const content = "You are a gardener.\n";
  const update = JSON.stringify({ control: "system.md", content });
  const input = `@call tsh ${JSON.stringify({ args: ["agent.update", update] })}\n@result`;
  const client = world.send("coder", "improves", input);
  expect(await client.done()).toMatchObject({ status: "ok" });
  const result = client.frames.find(({ type }) => type === "tool_result");
  expect(result).toMatchObject({ status: "ok" });
  expect(world.read("agent/coder.d/system.md")).toBe(content);
  expect(world.recorded("coder", "improves").filter((one) => one === "agent.update")).toHaveLength(
    1,
  );
  const prompt = await world.run(["ctx", "agent", "prompt", "coder"]);
  expect(prompt.stdout).toContain("You are a gardener.");
});

test("a call of a program is asked about like a model's: allowed it runs, denied it is told", async () => {
  const made = join(world.workspace, "made");
  for (const [decision, answer] of [
    ["deny", "refused: not today"],
    ["allow_once", "written"],
  ] as const) {
    const client = world.send("writer", `writer-${decision.replace("_", "-")}`, "write");
    const asked = await client.until(({ type }) => type === "approval_request");
    expect([asked?.["name"], existsSync(made)]).toEqual(["fs.write", false]);
    const reason = decision === "deny" ? { reason: "not today" } : {};
    client.send({ op: "approve", run: asked?.run, id: asked?.id, decision, ...reason });
    expect(await client.done()).toMatchObject({ status: "ok" });
    expect(answerOf(client)).toBe(answer);
  }
  expect(readFileSync(made, "utf8")).toBe("x");
  rmSync(made);
});

test("nobody who can answer means no, and the program is told", async () => {
  const sent = await world.run(["ctx", "agent", "send", "writer", "--session", "alone", "write"]);
  expect([sent.exit, sent.stdout]).toEqual([0, "refused\n"]);
  const listed = ["--session", "listed", "--approve", "fs.write", "write"];
  const allowed = await world.run(["ctx", "agent", "send", "writer", ...listed]);
  expect([allowed.exit, allowed.stdout]).toEqual([0, "written\n"]);
});

test("a model that is executed ends quietly when nobody reads its answer any more", async () => {
  const script = '("$0" exec "$1" hello; echo "exit $?" >&2) | head -c 1';
  const words = ["sh", "-c", script, join(dist, "ctx"), join(world.source, "model/debug/echo")];
  const child = Bun.spawn(words, { env: world.env, stdout: "pipe", stderr: "pipe" });
  expect(await new Response(child.stderr).text()).toBe("exit 0\n");
});
