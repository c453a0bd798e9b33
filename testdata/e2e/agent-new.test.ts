// A stranger's way to an agent, on the compiled programs: from a Markdown file to an answer that used
// its tool, with nothing done but what the commands print. Once as root serves everybody, once as one
// user serves himself.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserWorld } from "./user-world.ts";
import { type Finished, World } from "./world.ts";

const markdown = `---
description: Keeps the notes of this project
model: debug/script
tools: [fs.read, fs.write]
perm: rw-
---
You keep the notes.
`;

interface Made {
  readonly missing: readonly {
    readonly file: string;
    readonly line: string;
    readonly command: string;
  }[];
  readonly served: boolean;
}

/** Runs what a command printed, word by word as a shell would. */
async function obey(world: World, command: string): Promise<Finished> {
  expect(command).toStartWith("ctx ");
  const parsed = Bun.spawnSync(["sh", "-c", `printf '%s\\n' ${command}`]).stdout.toString();
  return world.run(parsed.trimEnd().split("\n"));
}

const worlds = [
  ["root serves everybody", () => new World()],
  ["a user serves himself", () => new UserWorld()],
] as const;

for (const [how, build] of worlds) {
  describe(how, () => {
    const world = build();
    const isUser = world instanceof UserWorld;
    const ctx = (...argv: string[]) => world.run(["ctx", ...argv]);
    const send = (agent: string, input: string) => ctx("agent", "send", agent, input);
    beforeAll(async () => {
      await world.bootstrap();
      writeFileSync(join(world.workspace, "helper.md"), markdown);
      writeFileSync(join(world.workspace, "a.txt"), "the content of a\n");
      if (!isUser) await world.serve();
    });
    afterAll(() => world.destroy());

    let made: Made;
    test("new makes it from a Markdown file and grants nothing", async () => {
      const done = await ctx("agent", "new", "helper", "--from", "helper.md", "--json");
      expect([done.exit, done.stderr]).toEqual([0, ""]);
      made = JSON.parse(done.stdout) as Made;
      expect(made.served).toBe(!isUser);
      expect(made.missing.map(({ file, line }) => `${file}: ${line}`)).toEqual(
        ["tsh", "fs.read", "fs.write"].map(
          (tool) => `tool/${tool}.d/policy: allow helper_t tool:${tool} execute`,
        ),
      );
      const folder = statSync(join(world.source, "agent/helper.d"));
      expect([folder.uid, folder.mode & 0o777]).toEqual([world.uid, 0o755]);
      expect((await ctx("agent", "new", "helper")).stderr).toContain("[EEXIST]");
    });

    test("it answers at once, is refused its tool, and check says which line is missing", async () => {
      const said = await send("helper", "@say hello");
      expect([said.exit, said.stdout]).toEqual([0, "hello\n"]);
      const refused = await send("helper", '@call fs.read {"path":"/workspace/a.txt"}\n@result');
      expect(refused.stdout + refused.stderr).not.toContain("the content of a");
      const check = await ctx("agent", "check", "helper");
      expect(check.exit).toBe(1);
      expect(check.stdout).toContain("tool fs.read is listed and cannot be used");
      expect(check.stdout).toContain("tool/fs.read.d/policy: allow helper_t tool:fs.read execute");
    });

    test("with the lines that were printed it works", async () => {
      for (const { command } of made.missing) expect((await obey(world, command)).exit).toBe(0);
      const check = await ctx("agent", "check", "helper", "--json");
      expect([check.exit, JSON.parse(check.stdout)]).toEqual([
        0,
        expect.objectContaining({ ready: true, faults: [], missing: [], kind: "model" }),
      ]);
      const input = '@call fs.read {"path":"/workspace/a.txt"}\n@say it says: \n@result';
      const done = await send("helper", input);
      expect([done.exit, done.stdout]).toEqual([0, expect.stringContaining("the content of a")]);
    });

    test("apply shows the difference, wants a yes, and has nothing to do after it", async () => {
      const path = join(world.workspace, "helper.md");
      writeFileSync(path, markdown.replace("perm: rw-", "perm: r--").replace(", fs.write", ""));
      const asked = await ctx("agent", "apply", "helper.md");
      expect([asked.exit, asked.stderr]).toEqual([1, expect.stringContaining("--yes")]);
      expect(asked.stdout).toContain("agent/helper.d/perm\n  - rw-\n  + r--\n");
      const perm = () => readFileSync(join(world.source, "agent/helper.d/perm"), "utf8");
      expect(perm()).toBe("rw-\n");
      expect((await ctx("agent", "apply", "helper.md", "--yes")).exit).toBe(0);
      expect(perm()).toBe("r--\n");
      const again = await ctx("agent", "apply", "helper.md");
      expect([again.exit, again.stdout]).toEqual([
        0,
        "agent helper is so already, nothing to do\n",
      ]);
      expect((await ctx("agent", "check", "helper")).exit).toBe(0);
    });

    test("what is wrong is said with its place, and nothing is made", async () => {
      writeFileSync(join(world.workspace, "bad.md"), "---\nperm: r--\ntools:\n  - no.tool\n---\n");
      const bad = await ctx("agent", "new", "bad", "--from", "bad.md");
      expect([bad.exit, bad.stderr]).toEqual([1, expect.stringContaining("bad.md:4:5: tool ")]);
      const dry = await ctx("agent", "new", "dry", "--dry-run");
      expect([dry.exit, dry.stdout]).toEqual([0, expect.stringContaining("would make agent dry")]);
      const { stdout } = await ctx("agent", "list");
      expect(stdout).not.toMatch(/^(?:bad|dry) /m);
    });

    test("a folder with a program makes an agent of that program", async () => {
      const folder = join(world.workspace, "prog.d");
      mkdirSync(folder);
      writeFileSync(join(folder, "perm"), "---\n");
      writeFileSync(join(folder, "tools"), "");
      writeFileSync(join(folder, "agent"), "#!/bin/sh\necho '{}'\n", { mode: 0o755 });
      const done = await ctx("agent", "new", "prog", "--from", "prog.d");
      expect([done.exit, done.stdout]).toEqual([
        0,
        expect.stringContaining("agent prog (program)"),
      ]);
      expect(readFileSync(join(world.source, "agent/prog"), "utf8")).toBe("#!/bin/sh\necho '{}'\n");
      const check = await ctx("agent", "check", "prog");
      expect([check.exit, check.stdout]).toEqual([
        0,
        expect.stringContaining("a program that speaks"),
      ]);
      rmSync(folder, { recursive: true });
    });
  });
}
