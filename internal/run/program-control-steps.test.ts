// The control `program` and agents that are programs: no step is told a word of it, with the tool
// declared, loaded and called, and no request that the host sends to a model for a step says one.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startModelServer } from "../../testdata/model-server/server.ts";
import { encodeInvocation } from "../envelope/mod.ts";
import { RunCapability } from "./capability.ts";
import { saying } from "./fake-launcher.ts";
import { MemoryContext } from "./fakes.ts";
import { calling, ProgramWorld } from "./program-world.ts";
import { UsageSum } from "./usage.ts";

const world = new ProgramWorld();
const server = startModelServer({ mode: "script" });
afterAll(async () => {
  await server.stop();
  world.close();
});

const folder = "tool/people.find.d";
const program = { type: "object", properties: { declaredResult: { type: "string" } } };

beforeEach(() => {
  world.reset();
  mkdirSync(join(world.source, folder), { recursive: true });
  writeFileSync(join(world.source, "tool/people.find"), "#!/bin/sh\n", { mode: 0o755 });
  const controls = {
    name: "people.find\n",
    description: "Finds people\n",
    schema: '{"type":"object","properties":{"who":{"type":"string"}}}\n',
    policy: "allow coder_t tool:people.find execute\n",
    program: `${JSON.stringify(program)}\n`,
  };
  for (const [name, text] of Object.entries(controls)) world.write(`${folder}/${name}`, text);
  world.model("local/test-model", "openai.chat");
  const provider = { name: "local", base_url: server.baseUrl };
  const file = join(world.places.config, "providers.d/local.json");
  writeFileSync(file, JSON.stringify(provider), { mode: 0o644 });
  const granted = ["tool:people.find execute", "tool:tsh execute", "model:local/test-model use"];
  const lines = granted.map((line) => `allow coder_t ${line}\n`).join("");
  for (const agent of ["prog", "coder"]) world.write(`agent/${agent}.d/policy`, lines);
  world.write("agent/prog.d/tools", "people.find\n");
});

const forbidden =
  /programmatic|allowed_callers|output_?schema|program_output|code_execution|declaredResult/i;

test("a step is told of the tool and nothing of its program control", async () => {
  const tsh = (id: string, ...args: string[]) => calling(id, "tsh", { args });
  world.play(
    [tsh("1", "pin", "people.find")],
    [tsh("2", "help", "people.find")],
    [calling("3", "people.find", { who: "you" })],
    [saying("done")],
  );
  const { context, outcome } = await world.send("go", "prog");
  expect(outcome).toEqual({ status: "ok" });
  expect(context.outcomes().map(({ status }) => status)).toEqual(["ok", "ok", "ok"]);
  const told = world.invocations().map((one) => encodeInvocation(one));
  expect(told).toHaveLength(4);
  // The tool's metadata is before the program by then, so that the search searches something.
  expect(told.at(-1)).toContain("Finds people");
  for (const line of told) expect(line).not.toMatch(forbidden);
  expect(JSON.stringify(context.records)).not.toMatch(forbidden);
});

test("a model that a step asks gets its messages and no tool", async () => {
  const context = new MemoryContext("go", "coder");
  const capability = new RunCapability(world.options, context, new UsageSum());
  const messages = [{ role: "user" as const, content: "@say hello" }];
  const request = {
    op: "model.use" as const,
    request_id: "m1",
    model: "local/test-model",
    messages,
  };
  const end = await capability.useModel(request, () => undefined, new AbortController().signal);
  expect(end).toEqual({ status: "ok" });
  const [sent] = server.requests;
  expect(sent?.body.messages).toEqual([{ role: "user", content: "@say hello" }]);
  const fields = ["messages", "model", "stream", "stream_options"];
  expect(Object.keys(sent?.body ?? {}).sort()).toEqual(fields);
  expect(JSON.stringify(sent)).not.toMatch(forbidden);
});
