// The control `program` is accepted and nothing else: no request to a model holds a word of it, nor of
// programmatic tool calling at all. Seen at a server over HTTP, headers and body as they were sent.

import { afterAll, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startModelServer } from "../../testdata/model-server/server.ts";
import { visibleTools } from "../authority/mod.ts";
import { loadAgent } from "../tree/mod.ts";
import { TestWorld } from "./fakes.ts";

const world = new TestWorld();
const server = startModelServer({ mode: "script" });
afterAll(async () => {
  await server.stop();
  world.close();
});

const folder = "tool/people.find.d";
const declared = {
  type: "object",
  properties: { declaredResult: { type: "string" } },
  additionalProperties: false,
};

beforeEach(() => {
  world.reset();
  world.model("local/test-model", "openai.chat");
  const provider = { name: "local", base_url: server.baseUrl };
  const file = join(world.places.config, "providers.d/local.json");
  writeFileSync(file, JSON.stringify(provider), { mode: 0o644 });
  const path = join(world.source, "tool/people.find");
  mkdirSync(join(world.source, folder), { recursive: true });
  writeFileSync(path, "#!/bin/sh\n");
  chmodSync(path, 0o755);
  const controls = {
    name: "people.find\n",
    description: "Finds people\n",
    schema: '{"type":"object","properties":{"who":{"type":"string"}}}\n',
    policy: "allow coder_t tool:people.find execute\n",
    program: `${JSON.stringify(declared)}\n`,
  };
  for (const [name, text] of Object.entries(controls)) world.write(`${folder}/${name}`, text);
  world.write("agent/coder.d/tools", "people.find\nfs.read\n");
  world.aim("local/test-model");
  const grants = ["model:local/test-model use", "tool:tsh execute", "tool:fs.read execute"];
  const lines = [...grants, "tool:people.find execute"].map((line) => `allow coder_t ${line}\n`);
  world.write("agent/coder.d/policy", lines.join(""));
});

/** What OpenAI and others call programmatic tool calling on the wire, and what `program` says. */
const forbidden =
  /programmatic|allowed_callers|output_?schema|program_output|code_execution|declaredResult/i;

const tsh = (...args: string[]) => `@call tsh ${JSON.stringify({ args })}`;

async function asked(input: string) {
  const before = server.requests.length;
  const { context, outcome } = await world.send(input);
  return { context, outcome, requests: server.requests.slice(before) };
}

test("a tool with the control is offered as any other, by name, description and input", async () => {
  const { outcome, requests } = await asked("@say hello");
  expect(outcome).toEqual({ status: "ok" });
  const [request] = requests;
  const fields = ["messages", "model", "stream", "stream_options", "tool_choice", "tools"];
  expect(Object.keys(request?.body ?? {}).sort()).toEqual(fields);
  const tools = request?.body.tools as unknown as { type: string; function: object }[];
  expect(tools.map((tool) => Object.keys(tool).sort())).toEqual(
    tools.map(() => ["function", "type"]),
  );
  expect(tools).toContainEqual({
    type: "function",
    function: {
      name: "people_find",
      description: "Finds people",
      parameters: { type: "object", properties: { who: { type: "string" } } },
    },
  });
});

test("no request says a word of it: offered, called, loaded, shown by help", async () => {
  const script = [
    '@call people.find {"who":"you"}',
    ...[tsh("pin", "people.find"), tsh("help", "people.find"), tsh("tools"), "@result"],
  ].join("\n");
  const { context, outcome, requests } = await asked(script);
  expect(outcome).toEqual({ status: "ok" });
  expect(context.outcomes().map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
  expect(requests).toHaveLength(5);
  const sent = requests.map(({ body, headers }) => JSON.stringify({ body, headers }));
  // The metadata is in the prompt by then, so that the search below searches something.
  expect(sent.at(-1)).toContain('\\"name\\":\\"people.find\\",\\"pinned\\":true');
  expect(sent.at(-1)).toContain("Finds people");
  for (const text of sent) expect(text).not.toMatch(forbidden);
  expect(JSON.stringify([context.records, context.live])).not.toMatch(forbidden);
});

test("a malformed one makes the tool unavailable, and says where", async () => {
  world.write(`${folder}/program`, "[]\n");
  const call = tsh("people.find", '{"who":"you"}');
  const { context, requests } = await asked(`${call}\n@result`);
  const [first] = requests;
  expect(first?.body.tools?.map((tool) => tool.function.name)).toEqual(["tsh", "fs_read"]);
  expect(context.outcomes()[0]?.output).toContain(`"${folder}/program" line 1, column 1`);
  const { tree, options } = world;
  const controls = loadAgent(tree, "coder");
  const visible = visibleTools({ tree, agent: "coder", controls, server: options.server });
  expect(visible.map(({ tool }) => tool.name)).not.toContain("people.find");
});
