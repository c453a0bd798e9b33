import { afterAll, beforeEach, expect, test } from "bun:test";
import type { ApprovalDecision } from "../session/mod.ts";
import { createExecutor } from "./executor.ts";
import { MemoryContext, TestWorld } from "./fakes.ts";

const world = new TestWorld();

beforeEach(() => {
  world.reset();
  world.aim("debug/script");
  world.write("agent/coder.d/approval", "ask\n");
});
afterAll(() => world.close());

const call = '@call fs.read {"path":"a"}\n@say done';

/** One run whose questions are decided by `decide`, while what `meanwhile` does happens. */
async function run(
  input: string,
  decision: ApprovalDecision,
  meanwhile: () => void = () => {},
): Promise<MemoryContext> {
  const context = new MemoryContext(input);
  context.decide = async () => {
    meanwhile();
    return decision;
  };
  await createExecutor(world.options)(context);
  return context;
}

test("an allowed call is run once, as it was shown", async () => {
  const context = await run(call, { kind: "allowed" });
  expect(context.questions).toMatchObject([
    { name: "fs.read", args: { path: "a" }, cwd: "/workspace" },
  ]);
  expect(context.questions[0]?.digest).toMatch(/^[0-9a-f]{64}$/);
  expect(world.launcher.requests).toHaveLength(1);
  expect(world.launcher.requests[0]?.approved?.parts.tool).toBe("fs.read");
  expect(context.outcomes()).toMatchObject([{ status: "ok", output: "launched" }]);
});

test.each([
  [{ kind: "denied", by: "answer", reason: "use b" }, "EACCES", "denied: use b"],
  [{ kind: "denied", by: "answer" }, "EACCES", "denied: the person who was asked gave no reason"],
  [{ kind: "timed_out" }, "ETIMEDOUT", "nobody answered"],
  [{ kind: "origin_lost" }, "EACCES", "nobody can answer"],
] as const)("%j launches nothing and is told to the model", async (decision, code, said) => {
  const context = await run(call, decision as ApprovalDecision);
  expect(world.launcher.requests).toEqual([]);
  expect(context.outcomes()).toMatchObject([{ status: "error", code }]);
  expect(context.outcomes()[0]?.output).toContain(said);
  expect(context.messages()).toEqual(["done"]);
});

test("nothing is asked about a call that is refused anyway, or that runs nothing", async () => {
  world.write("agent/coder.d/perm", "r--\n");
  const script = [
    '@call fs.read {"nope":1}',
    '@call tsh {"args":["fs.write",{"path":"a","content":""}]}',
    '@call tsh {"args":["fs.write","a","b"]}',
    '@call tsh {"args":["tools"]}',
    "@say done",
  ].join("\n");
  const context = await run(script, { kind: "allowed" });
  expect(context.questions).toEqual([]);
  expect(context.outcomes().map(({ status }) => status)).toEqual(["error", "error", "error", "ok"]);
  expect(world.launcher.requests).toEqual([]);
});

test("a call through tsh is asked about as the tool that it runs", async () => {
  const context = await run('@call tsh {"args":["fs.read","b"]}\n@say done', { kind: "allowed" });
  expect(context.questions).toMatchObject([{ name: "fs.read", args: { path: "b" } }]);
});

test("each call has a digest of its own, also when it is the same again", async () => {
  const context = await run(`${call.split("\n")[0]}\n${call}`, { kind: "allowed" });
  const digests = context.questions.map(({ digest }) => digest);
  expect(new Set(digests).size).toBe(2);
});

test("authority and schema are asked again once it is allowed", async () => {
  const context = await run(call, { kind: "allowed" }, () =>
    world.write("agent/coder.d/perm", "-w-\n"),
  );
  expect(context.questions).toHaveLength(1);
  expect(world.launcher.requests).toEqual([]);
  expect(context.outcomes()).toMatchObject([{ status: "error", code: "EACCES" }]);
});

test("no sandbox is made ready or kept for a call that waits", async () => {
  const seen: string[][] = [];
  await run(call, { kind: "allowed" }, () => seen.push([...world.launcher.standbys]));
  expect(seen).toHaveLength(1);
  expect(seen[0]?.every((one) => one.startsWith("discard"))).toBe(true);
  expect(seen[0]).not.toEqual([]);
});

test("a call that is asked about while its run is cancelled launches nothing", async () => {
  const context = new MemoryContext(call);
  context.decide = () => {
    context.controller.abort();
    return { kind: "cancelled" };
  };
  await createExecutor(world.options)(context);
  expect(world.launcher.requests).toEqual([]);
  expect(context.outcomes()).toEqual([]);
});
