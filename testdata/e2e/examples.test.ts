// What the documentation tells a stranger to do, done word for word on the compiled programs: the blocks
// of the examples' page in one shell, each output compared with what the page shows, and an agent in
// TypeScript from the page of the author's helper, compiled as that page says.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { UserWorld } from "./user-world.ts";
import { dist } from "./world.ts";

setDefaultTimeout(120_000);

const docs = resolve(import.meta.dir, "../../docs");
const sdk = resolve(import.meta.dir, "../../sdk");

interface Block {
  readonly language: string;
  readonly text: string;
}

const textOf = (page: string) => readFileSync(join(docs, page), "utf8");

function blocksOf(page: string): Block[] {
  const text = textOf(page);
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", body = ""]) => ({
    language,
    text: body,
  }));
}

/** Runs blocks of shell in one shell; gives what each printed. */
async function inOneShell(world: UserWorld, blocks: readonly string[], cwd: string) {
  const mark = "-- end of a block --\n";
  const script = blocks.map((block) => `${block}\nprintf '%s' '${mark}'\n`).join("");
  const env = {
    PATH: `${world.base}/bin:${dist}:${world.env["PATH"]}`,
    TMPDIR: join(world.base, "home"),
  };
  const done = await world.runAny(["/bin/sh", "-eu"], { input: script, cwd, env, ms: 110_000 });
  return { ...done, printed: done.stdout.split(mark) };
}

/** The calls of a session, each with the status of its result. */
function callsOf(world: UserWorld, agent: string): string[] {
  const events = world.events("default", agent);
  const results = events.filter(({ type }) => type === "tool.result");
  return results.map(({ object, status }) => `${object} ${status}`);
}

const world = new UserWorld();
afterAll(() => world.destroy());

describe("the page of the examples", () => {
  const blocks = blocksOf("examples/README.md");
  const shell = blocks.filter(({ language }) => language === "sh");
  let printed: readonly string[] = [];

  beforeAll(async () => {
    const examples = join(world.base, "examples");
    cpSync(join(docs, "examples"), examples, { recursive: true });
    const done = await inOneShell(
      world,
      shell.map(({ text }) => text),
      examples,
    );
    if (done.exit !== 0) throw new Error(`exit ${done.exit}: ${done.stdout}${done.stderr}`);
    printed = done.printed;
  });

  test("has commands, and shows what they print", () => {
    expect(shell.length).toBeGreaterThanOrEqual(8);
    const shown = blocks.flatMap(({ language, text }, index) => {
      if (language !== "text") return [];
      const command = shell.indexOf(blocks[index - 1] as Block);
      return [[command, text, printed[command]] as const];
    });
    expect(shown.length).toBe(4);
    for (const [command, text, said] of shown) expect([command, said]).toEqual([command, text]);
  });

  test("prints the commands that it tells to run", () => {
    for (const [index, { text }] of shell.entries()) {
      const made = /^ctx agent new (\w+)/m.exec(text);
      if (made === null) continue;
      const said = printed[index] as string;
      const wanted = [...said.matchAll(/^ +(ctx append .*)$/gm)].map(([, line]) => line);
      expect(wanted.length).toBe(3);
      const later = shell.slice(index).map((one) => one.text);
      for (const line of wanted) expect(later.join("")).toContain(`${line}\n`);
    }
  });

  test("makes agents whose two calls are recorded, and whose steps are their own", () => {
    expect(callsOf(world, "count")).toEqual(["tool/fs.list ok", "tool/fs.read ok"]);
    expect(callsOf(world, "summary")).toEqual(["tool/fs.list ok", "tool/fs.read ok"]);
    expect(callsOf(world, "coder")).toEqual(["tool/tsh ok"]);
  });

  test("the agents say what they were refused, and what is not there", async () => {
    const policy = join(world.source, "tool/fs.read.d/policy");
    const granted = readFileSync(policy, "utf8");
    const work = join(world.base, "home/work");
    mkdirSync(work);
    const send = (agent: string, session: string) =>
      world.run(["ctx", "agent", "send", agent, "--session", session, "look"], { cwd: work });
    for (const agent of ["count", "summary"]) {
      expect((await send(agent, "empty")).stdout).toBe("There is no file here.\n");
    }
    writeFileSync(join(work, 'a "quoted"\\name.txt'), "one\nand \\n no other");
    expect((await send("count", "odd")).stdout).toBe(
      'I read a "quoted"\\name.txt.\nIt has 2 lines.\n',
    );
    writeFileSync(policy, "");
    for (const agent of ["count", "summary"]) {
      const said = await send(agent, "refused");
      expect([said.exit, said.stdout]).toEqual([
        0,
        expect.stringContaining('I could not look: tool "fs.read" is refused'),
      ]);
    }
    writeFileSync(policy, granted);
  });

  test("an input that the tool's schema refuses never reaches it", async () => {
    const call = `@call tsh {"args":["hello","{\\"name\\":\\"a\\\\\\"b\\"}"]}\n@result`;
    const refused = await world.run(["ctx", "agent", "send", "coder", "--session", "bad", call]);
    expect(refused.stdout + refused.stderr).toContain("EINVAL");
    expect(refused.stdout).not.toContain("Hello");
  });
});

describe("the page of the helper", () => {
  const page = textOf("sdk.md");
  const blocks = blocksOf("sdk.md");
  const source = blocks.find(({ language }) => language === "ts")?.text ?? "";
  const shell = blocks.filter(({ language }) => language === "sh").map(({ text }) => text);

  test("leads from its source to a compiled agent that makes a call and asks a model", async () => {
    const folder = join(world.base, "home/lister");
    mkdirSync(folder);
    mkdirSync(join(world.base, "bin"));
    symlinkSync(process.execPath, join(world.base, "bin/bun"));
    for (const name of ["agent.js", "agent.d.ts"]) cpSync(join(sdk, name), join(folder, name));
    writeFileSync(join(folder, "lister.ts"), source);
    Bun.spawnSync(["chown", "-R", String(world.uid), folder]);
    const done = await inOneShell(world, shell, folder);
    expect([done.exit, done.exit === 0 ? "" : done.stdout + done.stderr]).toEqual([0, ""]);
    // The helper's two files, the source and the program.
    expect(done.printed[0]).toEndWith("I see 4 entries.\n");
    expect(callsOf(world, "lister")).toEqual(["tool/fs.list ok"]);
  });

  test("leads to an agent for node too, which replaces its own prompt", async () => {
    const node = Bun.which("node");
    if (!node?.startsWith("/usr/")) {
      console.log("SKIP an agent for node: a sandbox sees no node outside of /usr");
      return expect(node).not.toStartWith("/usr/");
    }
    const folder = join(world.base, "home/lister");
    const update = `
      import { runStep } from "./agent.js";
      void runStep(async ({ updatePrompt, history }) => {
        await updatePrompt("system.md", "You greet.\\n");
        return \`\${history.length} earlier\`;
      });
    `;
    writeFileSync(join(folder, "greeter.ts"), update);
    const [bundle = ""] = /^ {4}bun build --target=node .*$/m.exec(page) ?? [];
    const commands = [
      bundle.replaceAll("lister", "greeter"),
      "chmod +x greeter",
      "ctx agent new greeter --exec ./greeter --model debug/echo --perm=---",
      ...["agent/greeter.d", "tool/agent.update.d"].map(
        (object) => `ctx append ${object}/policy 'allow greeter_t tool:agent.update execute'`,
      ),
      "ctx agent send greeter hi",
      "ctx agent send greeter hi",
    ];
    const done = await inOneShell(world, commands, folder);
    expect([done.exit, done.exit === 0 ? "" : done.stdout + done.stderr]).toEqual([0, ""]);
    expect(done.printed.slice(5, 7)).toEqual(["0 earlier\n", "2 earlier\n"]);
    const prompt = readFileSync(join(world.source, "agent/greeter.d/system.md"), "utf8");
    expect(prompt).toBe("You greet.\n");
  });
});
