import { afterAll, beforeEach, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { TestWorld } from "./fakes.ts";

const world = new TestWorld();
const toolLog = "tool/fs.read.d/log";
const modelLog = "model/debug/script.d/log";

beforeEach(() => {
  world.reset();
  world.aim("debug/script");
  for (const file of [toolLog, modelLog]) rmSync(join(world.source, file), { force: true });
});
afterAll(() => world.close());

const lines = (file: string) =>
  readFileSync(join(world.source, file), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("a call and each answer of a model are told in their own logs, without what was said", async () => {
  const { context } = await world.send('@call fs.read {"path":"notes.md"}\n@say secret words');
  const who = { agent: "coder", session: context.session, run: context.run };
  const time = expect.stringMatching(/^\d{4}-/);
  expect(lines(toolLog)).toEqual([
    { ts: time, type: "tool.call", ...who, call: expect.any(String), status: "ok" },
  ]);
  const used = { ts: time, type: "model.use", ...who, status: "ok" };
  expect(lines(modelLog)).toEqual([used, used]);
  const all = [toolLog, modelLog].map((file) => readFileSync(join(world.source, file), "utf8"));
  expect(all.join("")).not.toMatch(/notes|secret/);
});

test("a model that fails says so in its log, and a refused call says nothing in its tool's", async () => {
  world.write("agent/coder.d/perm", "---\n");
  await world.send('@call tsh {"args":["fs.read","notes.md"]}\n@error EHOSTDOWN it is off');
  expect(lines(modelLog).map(({ status, code }) => [status, code])).toEqual([
    ["ok", undefined],
    ["error", "EHOSTDOWN"],
  ]);
  expect(existsSync(join(world.source, toolLog))).toBe(false);
});
