import { afterAll, beforeEach, expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { TestWorld } from "./fakes.ts";

const world = new TestWorld();
const { aim, send } = world;

beforeEach(() => {
  world.reset();
  aim("debug/script");
});
afterAll(() => world.close());

test("a model that policy does not allow is refused and explained", async () => {
  world.model("other/one", "debug.echo");
  aim("other/one");
  const { outcome } = await send("hello");
  expect(outcome).toMatchObject({ status: "error", code: "EACCES" });
  expect(outcome.status === "error" && outcome.message).toContain(
    "see ctx policy explain coder model:other/one use",
  );
});

test("a candidate that fails is noted and the next answers", async () => {
  aim("gone/away", "debug/script", "debug/echo");
  const { outcome, context } = await send("@error EHOSTDOWN no server");
  expect(outcome).toEqual({ status: "ok" });
  expect(context.records).toMatchObject([
    { type: "note", object: "model/gone/away" },
    { type: "note", code: "EHOSTDOWN", object: "model/debug/script" },
    { type: "message", text: "@error EHOSTDOWN no server" },
  ]);
  const text = context.records[1]?.type === "note" ? context.records[1].text : "";
  expect(text).toContain("no server");
});

test("a model's own fallback is tried after the list", async () => {
  world.write("model/debug/script.d/fallback", "debug/echo\n");
  const { outcome, context } = await send("@error EHOSTDOWN x");
  expect(outcome).toEqual({ status: "ok" });
  expect(context.messages()).toEqual(["@error EHOSTDOWN x"]);
});

test("when all fail the last reason is the run's error", async () => {
  aim("gone/away", "debug/script");
  const { outcome } = await send("@error EHOSTDOWN no server");
  expect(outcome).toEqual({
    status: "error",
    code: "EHOSTDOWN",
    message: "none of 2 models answered, the last: no server",
  });
});

test("no other candidate after output was streamed", async () => {
  aim("debug/script", "debug/echo");
  const { outcome, context } = await send("@say half\n@error EHOSTDOWN gone");
  expect(outcome).toMatchObject({ status: "error", code: "EHOSTDOWN" });
  expect(context.records).toEqual([]);
});

test("no other candidate after an answer consumed a tool result", async () => {
  aim("debug/script", "debug/echo");
  const stat = '@call fs.stat {"path":"a"}';
  const consumed = await send(`${stat}\n${stat}\n@error EHOSTDOWN gone`);
  expect(consumed.outcome).toEqual({ status: "error", code: "EHOSTDOWN", message: "gone" });
  // One result that no answer has consumed yet does not bind the run to its model.
  const open = await send(`${stat}\n@error EHOSTDOWN gone`);
  expect(open.outcome).toEqual({ status: "ok" });
});

test("a malformed script is the person's error, not a reason for another model", async () => {
  aim("debug/script", "debug/echo");
  expect((await send("@nonsense")).outcome).toMatchObject({ status: "error", code: "EINVAL" });
});

test("an alias is resolved when it is used", async () => {
  aim("main");
  rmSync(join(world.source, "model/main"), { force: true });
  symlinkSync("debug/script", join(world.source, "model/main"));
  const { context } = await send("@say by alias");
  expect(context.messages()).toEqual(["by alias"]);
  rmSync(join(world.source, "model/main"));
  // Nobody else in this file uses the alias.
  expect((await send("x")).outcome).toMatchObject({ status: "error", code: "ENOENT" });
});
