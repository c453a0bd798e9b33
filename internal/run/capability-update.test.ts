// The two halves of agent.update: the new text is made durable while its record is, and takes its place
// after it or never.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../abi/mod.ts";
import type { UpdateRequest } from "../capability/mod.ts";
import { RunCapability } from "./capability.ts";
import { MemoryContext, TestWorld } from "./fakes.ts";
import { UsageSum } from "./usage.ts";

const world = new TestWorld();
beforeEach(() => {
  world.reset();
  world.write("agent/coder.d/policy", "allow coder_t tool:agent.update execute\n");
});
afterAll(() => world.close());

const own = { agent: "coder", session: "default", run: "ctx-00000000000000000000000000000001" };
const update = (change: Partial<UpdateRequest> = {}): UpdateRequest => ({
  ...{ op: "agent.update", request_id: "u1", ...own },
  ...{ control: "system.md", content: "Be brief.\n" },
  ...change,
});
const file = (name: string) => join(world.source, "agent/coder.d", name);

function serve() {
  const context = new MemoryContext("go");
  return { context, capability: new RunCapability(world.options, context, new UsageSum()) };
}

describe("an update of a prompt", () => {
  test("that cannot be recorded replaces nothing and leaves nothing", async () => {
    world.write("agent/coder.d/system.md", "Before.\n");
    const before = readdirSync(file("."));
    const { context, capability } = serve();
    // However late the record fails: the new text lies ready by then.
    context.agentUpdate = async () => {
      await Bun.sleep(50);
      throw new CodedError("EIO", "the disk is gone");
    };
    await expect(capability.update(update())).rejects.toMatchObject({ code: "EIO" });
    context.agentUpdate = () => Promise.reject(new CodedError("EIO", "the disk is gone"));
    await expect(capability.update(update())).rejects.toMatchObject({ code: "EIO" });
    expect(readFileSync(file("system.md"), "utf8")).toBe("Before.\n");
    expect(readdirSync(file("."))).toEqual(before);
    expect(context.records).toEqual([]);
  });

  test("waits for its record, and for the updates before it", async () => {
    world.write("agent/coder.d/system.md", "Before.\n");
    const { context, capability } = serve();
    const record = context.agentUpdate.bind(context);
    const gate = Promise.withResolvers<void>();
    context.agentUpdate = async (...given) => {
      await gate.promise;
      await record(...given);
    };
    const contents = ["One.\n", "Two.\n", "Three.\n"];
    const asked = contents.map((content, n) =>
      capability.update(update({ request_id: `u${n}`, content })),
    );
    await Bun.sleep(50);
    expect(readFileSync(file("system.md"), "utf8")).toBe("Before.\n");
    gate.resolve();
    await Promise.all(asked);
    expect(readFileSync(file("system.md"), "utf8")).toBe("Three.\n");
    expect(context.records).toMatchObject(contents.map((content) => ({ content })));
  });
});
