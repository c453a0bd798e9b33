// What the programs of a run may ask: the handlers as a run gives them to its socket.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { AuthorizeRequest, ModelUseRequest, UpdateRequest } from "../capability/mod.ts";
import type { ModelFrame, OpenRun, RunPlace } from "../run-socket/mod.ts";
import { RunCapability } from "./capability.ts";
import type { ExecutorOptions } from "./environment.ts";
import { createExecutor } from "./executor.ts";
import { printing, saying } from "./fake-launcher.ts";
import { MemoryContext, TestWorld } from "./fakes.ts";
import { UsageSum } from "./usage.ts";

const world = new TestWorld();
beforeEach(() => {
  world.reset();
  rmSync(join(world.source, "agent/coder.d/log"), { force: true });
});
afterAll(() => world.close());

/** Remembers what was opened and closed. */
class FakeSockets {
  readonly opened: OpenRun[] = [];
  readonly places: RunPlace[] = [];
  readonly leased = new Set<string>();
  closed = 0;

  place(place: RunPlace): string {
    this.places.push(place);
    return "/runtime/capability/kept";
  }

  lease(place: RunPlace, run: string): string {
    this.leased.add(run);
    return this.place(place);
  }

  release(run: string): void {
    expect(this.leased.delete(run)).toBe(true);
  }

  close() {}

  open(run: OpenRun) {
    this.opened.push(run);
    const close = async () => {
      this.closed += 1;
    };
    return { folder: run.folder ?? "", close };
  }
}

function serve(change: Partial<ExecutorOptions> = {}) {
  const context = new MemoryContext("go");
  const usage = new UsageSum();
  const capability = new RunCapability({ ...world.options, ...change }, context, usage);
  return { context, usage, capability };
}

const own = { agent: "coder", session: "default", run: "ctx-00000000000000000000000000000001" };
const update = (change: Partial<UpdateRequest> = {}): UpdateRequest => ({
  ...{ op: "agent.update", request_id: "u1", ...own },
  ...{ control: "system.md", content: "Be brief.\n", ...change },
});
const authorize = (name: string): AuthorizeRequest => ({
  ...{ op: "tool.authorize", request_id: "a1", name, args: { path: "a" } },
});
const use = (model: string, content = "hi"): ModelUseRequest => ({
  ...{ op: "model.use", request_id: "m1", model, messages: [{ role: "user", content }] },
});

describe("agent.update", () => {
  const file = (name: string) => join(world.source, "agent/coder.d", name);
  const allowed = "allow coder_t tool:agent.update execute\n";
  beforeEach(() => world.write("agent/coder.d/policy", allowed));

  test("is recorded, replaces the control whole and keeps owner and mode", async () => {
    world.write("agent/coder.d/system.md", "Before.\n");
    const before = statSync(file("system.md"));
    const { context, capability } = serve();
    const reply = await capability.update(update());
    expect(reply).toEqual({ request_id: "u1", ok: true, ...own, control: "system.md" });
    expect(context.records).toEqual([
      { type: "update", control: "system.md", content: "Be brief.\n" },
    ]);
    expect(readFileSync(file("system.md"), "utf8")).toBe("Be brief.\n");
    const after = statSync(file("system.md"));
    expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode]);
  });

  test("makes a control that was not there", async () => {
    world.write("agent/coder.d/prompt.template.md", "x\n");
    rmSync(file("prompt.template.md"));
    await serve().capability.update(update({ control: "prompt.template.md", content: "New.\n" }));
    expect(readFileSync(file("prompt.template.md"), "utf8")).toBe("New.\n");
  });

  test("that cannot be written is told of and noted, and the old text stays", async () => {
    world.write("agent/coder.d/system.md", "Before.\n");
    const { context, capability } = serve();
    const bad = update({ content: "a\0b" });
    await expect(capability.update(bad)).rejects.toMatchObject({ code: "EINVAL" });
    expect(readFileSync(file("system.md"), "utf8")).toBe("Before.\n");
    expect(context.records.map(({ type }) => type)).toEqual(["update", "note"]);
  });

  for (const policy of ["agent/coder.d/policy", "tool/agent.update.d/policy"]) {
    test(`is refused while ${policy} does not allow the tool, and writes nothing`, async () => {
      world.write("agent/coder.d/system.md", "Before.\n");
      world.write(policy, "");
      const { context, capability } = serve();
      await expect(capability.update(update())).rejects.toMatchObject({ code: "EACCES" });
      expect(readFileSync(file("system.md"), "utf8")).toBe("Before.\n");
      expect(context.records).toEqual([]);
    });
  }

  test("of a run that is over writes nothing", async () => {
    world.write("agent/coder.d/system.md", "Before.\n");
    const cancelled = serve();
    cancelled.context.controller.abort();
    const closed = serve();
    await closed.capability.close();
    for (const { capability } of [cancelled, closed]) {
      await expect(capability.update(update())).rejects.toMatchObject({ code: "ECANCELED" });
    }
    expect(readFileSync(file("system.md"), "utf8")).toBe("Before.\n");
  });
});

describe("tool.authorize", () => {
  const logged = () => {
    const lines = readFileSync(join(world.source, "agent/coder.d/log"), "utf8").trimEnd();
    return lines.split("\n").map((line) => JSON.parse(line));
  };

  test("answers with every layer, and is logged without the arguments", async () => {
    const reply = await serve().capability.authorize(authorize("fs.read"));
    expect(reply).toMatchObject({
      request_id: "a1",
      ok: true,
      decision: { allowed: true, path: "/ctx/tool/fs.read" },
    });
    const layers = reply.decision?.layers.map(({ layer }) => layer);
    expect(layers).toEqual(
      "path identity mode mount perm label agent_policy object_policy".split(" "),
    );
    expect(logged()).toMatchObject([
      { type: "tool.authorize", session: "default", run: own.run, tool: "fs.read", allowed: true },
    ]);
    expect(JSON.stringify(logged())).not.toContain("path");
  });

  test("refuses as a call of that moment would be refused", async () => {
    const { capability } = serve();
    world.write("agent/coder.d/perm", "r-x\n");
    const reply = await capability.authorize(authorize("fs.write"));
    expect(reply).toMatchObject({ ok: false, code: "EACCES", decision: { allowed: false } });
    expect("message" in reply && reply.message).toContain("perm is r-x");
    world.write("agent/coder.d/perm", "rwx\n");
    expect(await capability.authorize(authorize("fs.write"))).toMatchObject({ ok: true });
    expect(await capability.authorize(authorize("no.such"))).toMatchObject({ ok: false });
    expect(logged().map(({ allowed }) => allowed)).toEqual([false, true, false]);
  });

  test("allows nothing where approval is asked, since nobody would be", async () => {
    world.write("agent/coder.d/approval", "ask\n");
    const reply = await serve().capability.authorize(authorize("fs.read"));
    expect(reply).toMatchObject({ ok: false, code: "EACCES" });
    expect(reply.decision?.layers.at(-1)).toMatchObject({
      layer: "approval",
      allowed: false,
      at: "agent/coder.d/approval",
    });
  });
});

describe("model.use", () => {
  const policy = (model: string) => `allow coder_t model:${model} use\n`;

  async function ask(request: ModelUseRequest, change: Partial<ExecutorOptions> = {}) {
    const served = serve(change);
    const frames: ModelFrame[] = [];
    const emit = (frame: ModelFrame) => void frames.push(frame);
    const signal = new AbortController().signal;
    const end = await served.capability.useModel(request, emit, signal);
    return { ...served, frames, end };
  }

  test("streams the answer and charges the run", async () => {
    world.write("agent/coder.d/policy", policy("debug/script"));
    const { frames, end, usage, context } = await ask(
      use("debug/script", "@reasoning hm\n@say hello\n@usage 7 2"),
    );
    expect(end).toEqual({ status: "ok" });
    const text = frames.flatMap((one) => (one.type === "delta" ? [one.text] : [])).join("");
    expect(text).toBe("hello");
    expect(frames.slice(-2)).toEqual([
      { type: "message", content: [{ type: "text", text: "hello" }] },
      { type: "usage", input_tokens: 7, output_tokens: 2 },
    ]);
    expect([context.live, context.records]).toEqual([[], []]);
    await usage.record(context);
    expect(context.records).toEqual([
      { type: "usage", model: "debug/script", input: 7, output: 2 },
    ]);
  });

  test("is under the agent's policy, of that moment", async () => {
    world.write("agent/coder.d/policy", policy("debug/echo"));
    await expect(ask(use("debug/script"))).rejects.toMatchObject({ code: "EACCES" });
    expect((await ask(use("debug/echo"))).end).toEqual({ status: "ok" });
  });

  test("of a model that does not exist is refused without a frame", async () => {
    world.write("agent/coder.d/policy", policy("debug/none"));
    await expect(ask(use("debug/none"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(ask(use("no-alias"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is bounded in number like the steps of a model", async () => {
    world.write("agent/coder.d/policy", policy("debug/echo"));
    const { capability } = await ask(use("debug/echo"), { modelSteps: 2 });
    const again = () =>
      capability.useModel(use("debug/echo"), () => undefined, AbortSignal.any([]));
    expect((await again()).status).toBe("ok");
    await expect(again()).rejects.toMatchObject({ code: "EMSGSIZE" });
  });

  test("ends when the run is cancelled, and when nobody waits any more", async () => {
    world.write("agent/coder.d/policy", policy("debug/script"));
    const waiting = use("debug/script", "@say one\n@delay 60000\n@say two");
    for (const stop of ["run", "peer"]) {
      const { capability, context } = serve();
      const gone = new AbortController();
      const emit = () => {
        if (stop === "run") context.controller.abort();
        else gone.abort();
        return undefined;
      };
      const end = await capability.useModel(waiting, emit, gone.signal);
      expect(end).toEqual({ status: "cancelled", code: "ECANCELED" });
    }
  });
});

describe("the socket of a run", () => {
  test("is opened for the first program and closed at the end, of both kinds of agent", async () => {
    const sockets = new FakeSockets();
    world.aim("debug/script");
    await world.send("@say hello", "coder", { sockets });
    expect(sockets.opened).toEqual([]);
    const { context } = await world.send('@call fs.read {"path":"a"}\n@say x', "coder", {
      sockets,
    });
    expect(sockets.opened).toMatchObject([
      { ...own, run: context.run, folder: "/runtime/capability/kept" },
    ]);
    expect(sockets.closed).toBeGreaterThan(0);
    expect(world.launcher.requests[0]?.control).toBe("/runtime/capability/kept");
    expect(sockets.opened[0]?.peerUid).toBe(sockets.places[0]?.peerUid as number);
  });

  test("is closed before the answer is recorded, and when the run fails", async () => {
    const sockets = new FakeSockets();
    world.write("agent/coder", "#!/bin/sh\n");
    const context = new MemoryContext("go");
    const message = context.message.bind(context);
    context.message = async (text) => {
      expect([text, sockets.opened.length, sockets.closed > 0]).toEqual(["done", 1, true]);
      await message(text);
    };
    const options = { ...world.options, sockets };
    expect(await createExecutor(options)(context)).toEqual({ status: "ok" });
    expect(world.launcher.steps[0]?.control).toBe("/runtime/capability/kept");
    world.launcher.program = printing({ type: "done" }, saying("x"));
    sockets.closed = 0;
    const failed = await createExecutor(options)(new MemoryContext("go"));
    expect([failed.status, sockets.closed > 0, [...sockets.leased]]).toEqual(["error", true, []]);
  });

  test("is not there when the host has none", async () => {
    world.aim("debug/script");
    await world.send('@call fs.read {"path":"a"}\n@say x');
    expect(world.launcher.requests[0]).not.toHaveProperty("control");
    expect(existsSync("/runtime")).toBe(false);
  });
});
