// Words for the tool shell: a run like any other, but no turn of the conversation.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../abi/mod.ts";
import type { Scope, TshRequest } from "../interaction/mod.ts";
import {
  collect,
  type Place,
  Puppet,
  place,
  resume,
  send,
  service,
  started,
  types,
} from "./fixture.ts";
import type { RunContext, RunExecutor } from "./types.ts";

let at: Place;
beforeEach(() => {
  inputs = 0;
  at = place();
});
afterEach(() => at.remove());

const privately: Scope = { kind: "private" };

function words(id: string, args: readonly string[], session = "default"): TshRequest {
  return { op: "tsh", id, session, scope: privately, args };
}

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(CodedError);
  return (error as CodedError).code;
}

/** One call with the words, as the executor of the product makes it. */
const shell: RunExecutor = async (context) => {
  const call = await context.toolCall("tsh", { args: context.words });
  await context.toolResult(call, "tsh", { status: "ok", output: "done it", dropped: 0 });
  return { status: "ok" };
};

test("words are told as start, tool_call, tool_result and done, and no model is named", async () => {
  const sessions = service(at, shell);
  const frames = await collect(await sessions.send("coder", words("t-1", ["load", "bash"])));
  expect(types(frames)).toEqual(["start", "tool_call", "tool_result", "done"]);
  expect(frames[0]).toMatchObject({ id: "t-1", model: "none" });
  expect(frames[1]).toMatchObject({ name: "tsh", args: { args: ["load", "bash"] } });
  expect(frames[3]).toMatchObject({ status: "ok" });
  expect(at.events().map(({ type }) => type)).not.toContain("message");
  await sessions.close();
});

test("the same id is told again and not done again, also by another process", async () => {
  let runs = 0;
  const counting: RunExecutor = (context) => {
    runs += 1;
    return shell(context);
  };
  const first = service(at, counting);
  const told = await collect(await first.send("coder", words("t-1", ["loads"])));
  expect(await collect(await first.send("coder", words("t-1", ["loads"])))).toEqual(told);
  await first.close();
  const second = service(at, counting);
  expect(await collect(await second.send("coder", words("t-1", ["loads"])))).toEqual(told);
  expect(await collect(await second.resume("coder", resume()))).toEqual(told);
  expect(runs).toBe(1);
  await second.close();
});

test("other words, another session or an input under the same id are a conflict", async () => {
  const sessions = service(at, shell);
  await collect(await sessions.send("coder", words("t-1", ["loads"])));
  await collect(await sessions.send("coder", send("m-1")));
  for (const request of [
    words("t-1", ["tools"]),
    words("t-1", ["loads", ""]),
    words("t-1", ["loads"], "other"),
    send("t-1"),
    words("m-1", ["loads"]),
  ]) {
    expect(await codeOf(sessions.send("coder", request))).toBe("request_conflict");
  }
  await sessions.close();
});

test("words wait for the run before them, and a cancel ends them there", async () => {
  const puppet = new Puppet();
  const sessions = service(at, puppet.executor);
  const running = puppet.next();
  const before = await sessions.send("coder", send("m-1"));
  const { run } = await running;
  const waiting = await sessions.send("coder", words("t-1", ["loads"]));
  const told = waiting[Symbol.asyncIterator]();
  const { value: start } = await told.next();
  expect(start).toMatchObject({ type: "start", queued: true });
  const [done] = await sessions.cancel("coder", (start as { run: string }).run);
  expect(done).toMatchObject({ type: "done", status: "cancelled" });
  expect(puppet.runs).toHaveLength(1);
  puppet.finish(run);
  await collect(before);
  waiting.close();
  await sessions.close();
});

test("words that run are cancelled as a run is: the call gets its one result", async () => {
  const puppet = new Puppet();
  const sessions = service(at, puppet.executor);
  const running = puppet.next();
  const stream = await sessions.send("coder", words("t-1", ["shell.exec", "sleep 9"]));
  const context = await running;
  await context.toolCall("tsh", { args: context.words });
  const rest = collect(stream);
  await sessions.cancel("coder", context.run);
  puppet.finish(context.run);
  const frames = await rest;
  expect(types(frames)).toEqual(["start", "tool_call", "tool_result", "done"]);
  expect(frames[2]).toMatchObject({ status: "error", code: "ECANCELED" });
  expect(frames[3]).toMatchObject({ status: "cancelled" });
  await sessions.close();
});

test("words are no turn of the conversation", async () => {
  const histories: unknown[] = [];
  const sessions = service(at, async (context) => {
    histories.push(context.history());
    return shell(context);
  });
  await collect(await sessions.send("coder", words("t-1", ["loads"])));
  await collect(await sessions.send("coder", send("m-1")));
  expect(histories).toEqual([[], []]);
  await sessions.close();
});

test("words that a crash cut are interrupted and not done again", async () => {
  const puppet = new Puppet();
  const first = service(at, puppet.executor);
  const running = puppet.next();
  const stream = await first.send("coder", words("t-1", ["loads"]));
  const context = await running;
  expect(await started(stream)).toBe(context.run);
  const closing = first.close();
  puppet.finish(context.run);
  await closing;
  const second = service(at, shell);
  const frames = await collect(await second.send("coder", words("t-1", ["loads"])));
  expect(frames.at(-1)).toMatchObject({ type: "done", status: "interrupted" });
  await second.close();
});

let inputs = 0;

/** Runs once in a session and gives back what `use` does there. */
async function inRun<T>(
  use: (context: RunContext) => T,
  scope: Scope = privately,
  again?: (context: RunContext) => T,
): Promise<T[]> {
  const seen: T[] = [];
  const uses = [use, ...(again === undefined ? [] : [again])];
  const sessions = service(at, async (context) => {
    const next = uses.shift();
    if (next !== undefined) seen.push(next(context));
    return { status: "ok" };
  });
  const held = await sessions.send("coder", send(`m-${++inputs}`, { scope }));
  await sessions.send("coder", send(`m-${++inputs}`, { scope })).then(collect);
  await collect(held);
  await sessions.close();
  return seen;
}

test("what a run keeps is there for the next, in a file of the session or in memory", async () => {
  const keep = (context: RunContext) => context.keep("tools.json", "kept");
  const read = (context: RunContext) => context.readKept("tools.json", 100);
  for (const scope of [privately, { kind: "temp" } as const]) {
    expect(await inRun<unknown>(keep, scope, read)).toEqual([undefined, "kept"]);
  }
  const file = join(at.sessionFolder(), "context/tools.json");
  expect(readFileSync(file, "utf8")).toBe("kept");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // Another process reads what this one left.
  expect(await inRun(read)).toEqual(["kept"]);
});

test("nothing kept is nothing; what is too long or a symlink is refused, and written over", async () => {
  const code = (action: () => unknown) => {
    try {
      action();
    } catch (error) {
      return (error as CodedError).code;
    }
    return "nothing was thrown";
  };
  expect(await inRun((context) => context.readKept("tools.json", 100))).toEqual([undefined]);
  await inRun((context) => context.keep("tools.json", "a"));
  const file = join(at.sessionFolder(), "context/tools.json");
  writeFileSync(file, "x".repeat(101));
  const sessions = service(at, async (context) => {
    expect(code(() => context.readKept("tools.json", 100))).toBe("EMSGSIZE");
    rmSync(file);
    symlinkSync("/etc/passwd", file);
    expect(code(() => context.readKept("tools.json", 100_000))).toBe("EACCES");
    context.keep("tools.json", "again");
    expect(context.readKept("tools.json", 100)).toBe("again");
    rmSync(join(at.sessionFolder(), "context"), { recursive: true });
    writeFileSync(join(at.sessionFolder(), "context"), "in the way");
    expect(code(() => context.keep("tools.json", "b"))).not.toBe("nothing was thrown");
    return { status: "ok" };
  });
  const frames = await collect(await sessions.send("coder", send(`m-${++inputs}`)));
  expect(frames.at(-1)).toMatchObject({ type: "done", status: "ok" });
  await sessions.close();
});
