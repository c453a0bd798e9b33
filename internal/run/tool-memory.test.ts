import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { contextBytesMax } from "../envelope/mod.ts";
import type { ModelRequest } from "../model/mod.ts";
import { toolContextBytesMax } from "../tool-context/mod.ts";
import { createExecutor } from "./executor.ts";
import { MemoryContext, TestWorld, watching } from "./fakes.ts";
import { heldTools, shellBounds, toolContextOf } from "./tool-memory.ts";

const world = new TestWorld();
const { aim } = world;

beforeEach(() => {
  world.reset();
  aim("debug/script");
});
afterAll(() => world.close());

/** What is kept between the runs of one session. */
type Kept = Map<string, string>;

/** One input in a session, with every request that its model got. */
async function say(kept: Kept, script: string, damage?: (context: MemoryContext) => void) {
  const requests: ModelRequest[] = [];
  const context = new MemoryContext(script);
  context.kept = kept;
  damage?.(context);
  const resolve = watching(requests);
  const outcome = await createExecutor({ ...world.options, resolve })(context);
  const prompts = requests.map(({ messages }) => {
    const [first] = messages;
    return first?.role === "system" ? first.text : "";
  });
  return { context, outcome, requests, prompts };
}

const script = (...calls: readonly string[][]) =>
  [...calls.map((args) => `@call tsh ${JSON.stringify({ args })}`), "@say done"].join("\n");

/** What tsh answers to words, without a model. */
async function tsh(kept: Kept, ...words: string[]) {
  const context = new MemoryContext("");
  context.kept = kept;
  context.words = words;
  const outcome = await createExecutor(world.options)(context);
  const [result] = context.outcomes();
  return { context, outcome, status: result?.status, output: result?.output ?? "" };
}

/** Tools of the prompt's block, by name. */
function shownIn(prompt: string | undefined): string[] {
  return [...(prompt ?? "").matchAll(/^\{"name":"([^"]+)".*$/gm)].map(([, name = ""]) => name);
}

const held = (kept: Kept) => {
  const context = new MemoryContext("");
  context.kept = kept;
  return heldTools(context, shellBounds(world.tree));
};

describe("a loaded tool", () => {
  test("stands in the next step's prompt and in those of later runs", async () => {
    const kept: Kept = new Map();
    const first = await say(kept, script(["load", "fs.read"]));
    expect(first.prompts.map(shownIn)).toEqual([[], ["fs.read"]]);
    expect(first.prompts[0]).toContain("(no tool metadata is loaded)");
    expect(first.context.outcomes()).toMatchObject([{ status: "ok", output: "fs.read is loaded" }]);
    const second = await say(kept, "@say hello");
    expect(second.prompts.map(shownIn)).toEqual([["fs.read"]]);
    expect(second.prompts[0]).toContain('"required":["path"]');
  });

  test("of another session is not there", async () => {
    await say(new Map(), script(["load", "fs.read"]));
    expect((await say(new Map(), "@say hello")).prompts.map(shownIn)).toEqual([[]]);
  });

  test("never becomes one that a model may call directly", async () => {
    world.write("agent/coder.d/tools", "fs.list\n");
    const kept: Kept = new Map();
    await tsh(kept, "pin", "fs.read");
    const { requests, context } = await say(kept, '@call fs.read {"path":"a"}\n@say done');
    for (const { tools } of requests) {
      expect(tools.map((tool) => tool.name)).toEqual(["tsh", "fs.list"]);
    }
    expect(context.outcomes()).toMatchObject([{ status: "error", code: "EACCES" }]);
    expect(world.launcher.requests).toEqual([]);
  });

  test("that is no longer allowed is left out without an error, and is back when it is", async () => {
    const kept: Kept = new Map();
    await tsh(kept, "load", "fs.read", "fs.write");
    await tsh(kept, "pin", "fs.replace");
    world.write("agent/coder.d/perm", "r--\n");
    const less = await say(kept, "@say hello");
    expect(less.outcome).toEqual({ status: "ok" });
    expect(less.prompts.map(shownIn)).toEqual([["fs.read"]]);
    expect((await tsh(kept, "loads")).output).toContain("fs.replace\tnot allowed now");
    world.write("agent/coder.d/perm", "rwx\n");
    const again = await say(kept, "@say hello");
    expect(again.prompts.map(shownIn)).toEqual([["fs.replace", "fs.read", "fs.write"]]);
  });
});

describe("what may not be run", () => {
  test("may not be loaded or pinned: the explained refusal, and nothing is kept", async () => {
    world.write("agent/coder.d/perm", "r--\n");
    const kept: Kept = new Map();
    for (const verb of ["load", "pin"]) {
      const { status, output } = await tsh(kept, verb, "fs.read", "fs.write");
      expect(status).toBe("error");
      expect(output).toContain('tool "fs.write" is refused for agent "coder"');
      expect(output).toContain("see ctx policy explain coder tool:fs.write execute");
      expect(output).toContain("[EACCES]");
    }
    expect([...kept.keys()]).toEqual([]);
  });

  test.each([
    [["load", "../x"], "EINVAL"],
    [["load", "tsh"], "EINVAL"],
    [["load", "no.such.tool"], "ENOENT"],
    [["unload", "fs.read"], "EINVAL"],
    [["unpin", "fs.read"], "EINVAL"],
    [["config"], "EINVAL"],
    [["load"], "EINVAL"],
  ])("%j is refused and changes nothing", async (words, code) => {
    const kept: Kept = new Map();
    const { output, status } = await tsh(kept, ...words);
    expect({ status, code: /\[(\w+)\]/.exec(output)?.[1] }).toEqual({ status: "error", code });
    expect(kept.size).toBe(0);
  });
});

describe("the words", () => {
  test("pin, unpin, unload and loads say what they did", async () => {
    const kept: Kept = new Map();
    expect((await tsh(kept, "pin", "fs.read")).output).toBe("fs.read is pinned");
    expect((await tsh(kept, "load", "fs.list")).output).toBe("fs.list is loaded");
    expect((await tsh(kept, "unload", "fs.read")).output).toContain("is pinned");
    const { output } = await tsh(kept, "loads");
    expect(output).toMatch(/^pinned\tfs\.read\t\d+ bytes\nloaded\tfs\.list\t\d+ bytes\n/);
    expect(output).toContain("loaded 1 of 64, pinned 1 of 64, tracked 1 of 32, window 1%");
    expect(output).toMatch(/the prompt is given \d+ of 65536 bytes$/);
    expect((await tsh(kept, "unpin", "fs.read")).output).toContain("not pinned any more");
    expect((await tsh(kept, "unload", "fs.read", "fs.list")).status).toBe("ok");
    expect((await tsh(kept, "loads")).output).toStartWith("loaded 0 of 64, pinned 0 of 64");
  });

  test("beyond max_loaded_tools one makes room, and it is said which", async () => {
    world.write("tool/tsh.d/config", "max_loaded_tools=2\n");
    const kept: Kept = new Map();
    await tsh(kept, "pin", "shell.exec");
    await tsh(kept, "load", "fs.read", "fs.list");
    const { output } = await tsh(kept, "load", "fs.stat");
    expect(output).toBe("fs.stat is loaded\nfs.read is unloaded to make room");
    const { prompts } = await say(kept, "@say hello");
    expect(prompts.map(shownIn)).toEqual([["shell.exec", "fs.list", "fs.stat"]]);
  });

  test("a tool that is used often outlives one that was loaded later", async () => {
    world.write("tool/tsh.d/config", "max_loaded_tools=2\n");
    const kept: Kept = new Map();
    await tsh(kept, "load", "fs.read", "fs.list");
    for (let uses = 0; uses < 3; uses += 1) await tsh(kept, "fs.read", "a.md");
    await tsh(kept, "load", "fs.stat", "fs.write");
    expect(held(kept).loaded).toContain("fs.read");
    expect(world.launcher.requests).toHaveLength(3);
  });

  test("a call of a model touches as well, direct or through tsh; a refused one does not", async () => {
    const kept: Kept = new Map();
    await say(kept, '@call fs.read {"path":"a"}\n@call tsh {"args":["fs.list","."]}\n@say done');
    const { tracking } = held(kept);
    const names = [...tracking.window, ...tracking.probation, ...tracking.protected];
    expect(names.sort()).toEqual(["fs.list", "fs.read"]);
    world.write("agent/coder.d/perm", "---\n");
    const other: Kept = new Map();
    await tsh(other, "fs.read", "a.md");
    expect(other.size).toBe(0);
  });

  test("a broken configuration refuses loading with its place, and stops no run", async () => {
    const kept: Kept = new Map();
    await tsh(kept, "load", "fs.read");
    world.write("tool/tsh.d/config", "max_loaded_tools=none\n");
    const { output, status } = await tsh(kept, "load", "fs.list");
    expect(status).toBe("error");
    expect(output).toContain('"tool/tsh.d/config" line 1');
    expect((await say(kept, "@say hello")).prompts.map(shownIn)).toEqual([["fs.read"]]);
  });
});

describe("words without a model", () => {
  test("are one recorded call and no message", async () => {
    const { context, outcome } = await tsh(new Map(), "which", "fs.read");
    expect(outcome).toEqual({ status: "ok" });
    expect(context.records).toEqual([
      { type: "call", id: "call-1", name: "tsh", args: { args: ["which", "fs.read"] } },
      {
        type: "result",
        id: "call-1",
        name: "tsh",
        outcome: { status: "ok", output: "/ctx/tool/fs.read", dropped: 0 },
      },
    ]);
    expect(context.phases).toEqual(["tool tsh 0 null"]);
  });

  test("run tools by the same authority, and ask where approval is asked", async () => {
    expect((await tsh(new Map(), "fs.read", "a.md")).output).toBe("launched");
    world.write("agent/coder.d/approval", "ask\n");
    const asked = await tsh(new Map(), "fs.read", "a.md");
    expect(asked.context.questions).toMatchObject([{ name: "fs.read" }]);
    expect(asked.output).toContain("nobody can answer");
    // Loading runs nothing.
    expect((await tsh(new Map(), "load", "fs.read")).context.questions).toEqual([]);
  });

  test("work for an agent whose model is gone", async () => {
    aim("gone/model");
    expect((await tsh(new Map(), "load", "fs.read")).status).toBe("ok");
  });
});

describe("a state", () => {
  test("that is damaged is fresh, is noted once, and stops no run", async () => {
    const kept: Kept = new Map([["tools.json", '{"pinned":']]);
    const { outcome, context, prompts } = await say(kept, '@call tsh {"args":["loads"]}\n@say ok');
    expect(outcome).toEqual({ status: "ok" });
    expect(prompts.map(shownIn)).toEqual([[], []]);
    const notes = context.records.filter(({ type }) => type === "note");
    expect(notes).toMatchObject([{ code: "EIO", object: "session/default" }]);
    expect(JSON.stringify(notes)).toContain("context/tools.json is damaged: it is not JSON");
  });

  test("that cannot be written fails the words that change it, and no other call", async () => {
    const kept: Kept = new Map();
    const full = (context: MemoryContext) => {
      context.keep = () => {
        throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      };
    };
    const calls = script(["load", "fs.read"], ["fs.read", "a.md"]);
    const { context, prompts } = await say(kept, calls, full);
    expect(context.outcomes()).toMatchObject([
      { status: "error", code: "ENOSPC" },
      { status: "ok", output: "launched" },
    ]);
    expect(prompts.map(shownIn)).toEqual([[], [], []]);
  });

  test("fits the envelope of an executable agent, which gets the same text", () => {
    expect(toolContextBytesMax).toBe(contextBytesMax);
    expect(toolContextOf(world.options, new MemoryContext(""))).toBe("");
  });
});
