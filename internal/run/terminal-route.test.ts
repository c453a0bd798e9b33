// Where a call runs when its session has a terminal.

import { afterAll, beforeEach, expect, test } from "bun:test";
import type { LaunchOutcome, LaunchRequest } from "../launch/mod.ts";
import { createExecutor } from "./executor.ts";
import { MemoryContext, TestWorld } from "./fakes.ts";
import type { TerminalCalls } from "./terminal-calls.ts";

const world = new TestWorld();
beforeEach(() => {
  world.reset();
  world.aim("debug/script");
});
afterAll(() => world.close());

/** A terminal that runs nothing: it remembers what it was asked. */
class FakeTerminal implements TerminalCalls {
  readonly asked: { readonly tool: string; readonly words: readonly string[] }[] = [];
  readonly notes: string[] = [];
  isReady = true;

  serves() {
    return this.isReady;
  }

  async run({ tool }: LaunchRequest, words: readonly string[]): Promise<LaunchOutcome | undefined> {
    if (!this.isReady) return undefined;
    this.asked.push({ tool: tool.name, words });
    return { status: "ok", output: "in the terminal", dropped: 0, exit: 0, newGit: [] };
  }

  note(_session: unknown, text: string) {
    this.notes.push(text);
  }
}

const tsh = (...args: string[]) => `@call tsh ${JSON.stringify({ args })}\n`;
const input = `${tsh("fs.read", "a.md")}${tsh("tools")}@call fs.read {"path":"b.md"}\n@say done`;
const launched = () => world.launcher.requests.map(({ tool, args }) => [tool.name, args]);

test("what the tool shell is told runs there, what is called directly in a sandbox with a note", async () => {
  const terminals = new FakeTerminal();
  const { context } = await world.send(input, "coder", { terminals });
  expect(terminals.asked).toEqual([{ tool: "fs.read", words: ["fs.read", "a.md"] }]);
  expect(launched()).toEqual([["fs.read", { path: "b.md" }]]);
  expect(terminals.notes).toEqual([
    '"fs.read" runs in a sandbox of its own: the model called it directly',
  ]);
  const [first, , third] = context.outcomes().map(({ output }) => output);
  expect([first, third]).toEqual(["in the terminal", "launched"]);
});

test("no call runs there without a shell that serves", async () => {
  const terminals = new FakeTerminal();
  terminals.isReady = false;
  await world.send(input, "coder", { terminals });
  expect(launched()).toEqual([
    ["fs.read", { path: "a.md" }],
    ["fs.read", { path: "b.md" }],
  ]);
});

test("authority and schema are asked before, and a refused call reaches no terminal", async () => {
  const terminals = new FakeTerminal();
  const refused = `${tsh("fs.none", "{}")}${tsh("fs.read", '{"path":7}')}@say done`;
  const { context } = await world.send(refused, "coder", { terminals });
  expect([terminals.asked, launched()]).toEqual([[], []]);
  expect(context.outcomes().map(({ status }) => status)).toEqual(["error", "error"]);
});

test("no sandbox is kept for calls that a terminal runs, and one is for direct ones", async () => {
  const executor = createExecutor({ ...world.options, terminals: new FakeTerminal() });
  const kept = () => world.launcher.standbys.filter((one) => one.startsWith("prepare"));
  await executor(new MemoryContext(`${tsh("fs.read", "a.md")}@say done`, "coder", "watched"));
  const direct = '@call fs.read {"path":"b.md"}\n@say done';
  await executor(new MemoryContext(direct, "coder", "direct"));
  // The one that would have been kept first has had its time.
  while (!kept().includes("prepare direct to rest")) await Bun.sleep(1);
  expect(kept().filter((one) => one.includes("watched"))).toEqual([]);
});
