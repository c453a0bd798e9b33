// What tsh loads reaches the model, on the compiled programs: by the op on the agent's socket and by a
// model's own calls, within the bounds, across a restart, and for an agent that is a program.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { giveLoopModel, loadedIn } from "./loop-model.ts";
import { RawClient } from "./raw-client.ts";
import { World } from "./world.ts";

const world = new World();
let server: Awaited<ReturnType<typeof giveLoopModel>>;
let ids = 0;

beforeAll(async () => {
  await world.bootstrap();
  server = await giveLoopModel(world);
  await world.run(["ctx", "set", "tool/tsh.d/config", "max_loaded_tools=2\n"]);
  await world.serve();
});
afterAll(async () => {
  await world.destroy();
  await server.stop();
});

function ask(request: unknown, agent = "coder"): RawClient {
  return new RawClient(`${world.source}/agent/${agent}.sock`, world.uid).send(request);
}

/** The op, to its end: its result and all of its frames. */
async function tsh(session: string, args: readonly string[], id = `t-${++ids}`) {
  const client = ask({ op: "tsh", id, session, args });
  await client.closed;
  const result = client.frames.find(({ type }) => type === "tool_result");
  return { frames: client.frames, status: result?.["status"], content: `${result?.["content"]}` };
}

/** One input; gives back the system message of every request that the model server saw for it. */
async function say(session: string, input: string): Promise<string[]> {
  const before = server.requests.length;
  const client = ask({ op: "send", id: `m-${++ids}`, session, input });
  expect(await client.done()).toMatchObject({ status: "ok" });
  return server.requests.slice(before).map(({ body }) => {
    const [first] = body.messages as { role: string; content?: unknown }[];
    return `${first?.content}`;
  });
}

const toolsFile = (session: string) => join(world.sessionFolder(session), "context/tools.json");

describe("the tsh op", () => {
  test("loads and pins within the bounds, and the next prompt holds exactly those", async () => {
    const { frames, content } = await tsh("bounds", ["load", "fs.read"]);
    expect(frames.map(({ type }) => type)).toEqual(["start", "tool_call", "tool_result", "done"]);
    expect(frames[0]).toMatchObject({ model: "none" });
    expect(content).toBe("fs.read is loaded");
    await tsh("bounds", ["pin", "shell.exec"]);
    await tsh("bounds", ["load", "fs.list"]);
    expect((await tsh("bounds", ["load", "fs.stat"])).content).toBe(
      "fs.stat is loaded\nfs.read is unloaded to make room",
    );
    expect(server.requests).toHaveLength(0);
    expect((await say("bounds", "@say hello")).map(loadedIn)).toEqual([
      ["shell.exec", "fs.list", "fs.stat"],
    ]);
    expect((await tsh("bounds", ["loads"])).content).toContain("loaded 2 of 2, pinned 1 of 64");
    const { mode, uid } = statSync(toolsFile("bounds"));
    expect([mode & 0o777, uid]).toEqual([0o600, world.uid]);
    expect(JSON.stringify(world.messages("bounds"))).not.toContain("fs.stat");
  }, 60_000);

  test("is kept over a restart, with its replay: nothing is done twice", async () => {
    const words = ["shell.exec", '{"cmd":"echo once >> /home/agent/count"}'];
    const first = await tsh("bounds", words, "count-1");
    expect(first.status).toBe("ok");
    expect(await world.stop()).toBe(0);
    await world.serve();
    expect((await tsh("bounds", words, "count-1")).frames).toEqual(first.frames);
    expect((await tsh("bounds", ["shell.exec", "wc -l < count"])).content).toStartWith("1\n");
    const other = ask({ op: "tsh", id: "count-1", session: "bounds", args: ["loads"] });
    await other.closed;
    expect(other.frames).toMatchObject([{ type: "error", code: "request_conflict" }]);
    expect((await say("bounds", "@say again")).map(loadedIn)).toEqual([
      ["shell.exec", "fs.list", "fs.stat"],
    ]);
  }, 60_000);

  test("is kept when ctxd is killed", async () => {
    await tsh("killed", ["pin", "fs.read"]);
    await world.stop("SIGKILL");
    await world.serve();
    expect((await say("killed", "@say hello")).map(loadedIn)).toEqual([["fs.read"]]);
  }, 60_000);

  test("refuses to load what the agent may not run, with the explanation", async () => {
    await world.run(["ctx", "set", "agent/coder.d/perm", "r--\n"]);
    const refused = await tsh("refused", ["load", "fs.write"]);
    expect(refused.status).toBe("error");
    expect(refused.content).toContain("see ctx policy explain coder tool:fs.write execute");
    // What was loaded before is left out, and nothing fails.
    expect((await say("bounds", "@say less")).map(loadedIn)).toEqual([["fs.list", "fs.stat"]]);
    await world.run(["ctx", "set", "agent/coder.d/perm", "rwx\n"]);
    expect((await say("bounds", "@say more")).map(loadedIn)).toEqual([
      ["shell.exec", "fs.list", "fs.stat"],
    ]);
  }, 60_000);

  test("asks for approval of a tool as for any call, and not for loading", async () => {
    await world.run(["ctx", "set", "agent/coder.d/approval", "ask\n"]);
    const client = ask({
      op: "tsh",
      id: "ask-1",
      session: "asks",
      args: ["shell.exec", "echo hi"],
    });
    const asked = await client.until(({ type }) => type === "approval_request");
    expect(asked).toMatchObject({ name: "shell.exec" });
    client.send({ op: "approve", run: asked?.run, id: asked?.id, decision: "allow_once" });
    expect(await client.done()).toMatchObject({ status: "ok" });
    expect(client.frames.find(({ type }) => type === "tool_result")).toMatchObject({
      status: "ok",
      content: "hi\n[exit 0]\n",
    });
    expect((await tsh("asks", ["load", "fs.read"])).status).toBe("ok");
    await world.run(["ctx", "set", "agent/coder.d/approval", "auto\n"]);
  }, 60_000);

  test("takes a damaged state for a fresh one, and says so once", async () => {
    await tsh("damaged", ["load", "fs.read"]);
    writeFileSync(toolsFile("damaged"), '{"schema":');
    expect((await say("damaged", "@say hello")).map(loadedIn)).toEqual([[]]);
    expect((await say("damaged", "@say hello")).map(loadedIn)).toEqual([[]]);
    const notes = world.events("damaged").filter(({ type }) => type === "error");
    expect(notes).toMatchObject([{ code: "EIO", text: expect.stringContaining("is damaged") }]);
  }, 60_000);
});

test("a model loads a tool, and its next step has it; what it may call directly stays the same", async () => {
  const before = server.requests.length;
  const prompts = await say("model", '@call tsh {"args":["load","fs.read"]}\n@say done');
  expect(prompts.map(loadedIn)).toEqual([[], ["fs.read"]]);
  const offered = server.requests
    .slice(before)
    .map(({ body }) => (body.tools ?? []).map((tool) => tool.function.name));
  expect(offered[1]).toEqual(offered[0] ?? []);
});

test("a program gets the block as tool_context, at its next step", async () => {
  const script = `#!/bin/sh
read -r line
case "$line" in
  *'"observation":null'*) echo '{"type":"tool_call","id":"c1","name":"tsh","args":{"args":["load","fs.read"]}}' ;;
  *) printf '%s' "$line" | sed -n 's/.*"tool_context":"\\(.*\\)","observation".*/\\1/p' > /home/agent/seen
     echo '{"type":"message","role":"assistant","content":[{"type":"text","text":"loaded"}]}' ;;
esac
`;
  const program = join(world.base, "loader.sh");
  writeFileSync(program, script, { mode: 0o755 });
  const made = await world.run([
    "ctx",
    "agent",
    "new",
    "loader",
    "--exec",
    program,
    "--label",
    "coder_t",
    "--perm",
    "rwx",
  ]);
  expect([made.exit, made.stderr]).toEqual([0, made.stderr]);
  const policy = "allow coder_t tool:tsh execute\nallow coder_t tool:fs.read execute\n";
  await world.run(["ctx", "set", "agent/loader.d/policy", policy]);
  const client = ask({ op: "send", id: "p-1", session: "program", input: "go" }, "loader");
  expect(await client.done()).toMatchObject({ status: "ok" });
  const home = join(world.source, `home/${world.uid}/agent/loader`);
  const seen = readFileSync(join(home, "seen"), "utf8");
  expect(seen).toContain('{\\"name\\":\\"fs.read\\"');
}, 60_000);
