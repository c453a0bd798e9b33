// The commands that make, change and check an agent, from source: options, printed lines, questions.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Place } from "../../testdata/cli/program.ts";
import { differing } from "./agent-diff.ts";
import { missingLines, type Ruling } from "./agent-grants.ts";

setDefaultTimeout(120_000);

const place = new Place();
beforeAll(() => place.bootstrap());
afterAll(() => place.remove());

const control = (agent: string, name: string) =>
  readFileSync(join(place.source, `agent/${agent}.d/${name}`), "utf8");

test("options win over the file, lists may be repeated, and a place of an option is said", async () => {
  writeFileSync(
    join(place.work, "a.md"),
    "---\nperm: rwx\nmodel: debug/echo\n---\nFrom the file.\n",
  );
  writeFileSync(join(place.work, "own.txt"), "From the option.\n");
  const more = ["--tools", "fs.read,fs.write", "--tools", "shell.exec", "--perm", "r--"];
  const mounts = ["--mount", "/srv /data ro", "--mount", "/opt /opt rw nosuid,noexec"];
  const made = await place.ctx(
    ...["agent", "new", "opt", "--from", "a.md", ...more, ...mounts],
    ...["--system", "own.txt", "--approval", "ask", "--label", "mine_t", "--json"],
  );
  expect([made.exit, made.err]).toEqual([0, ""]);
  expect(JSON.parse(made.out).controls).toMatchObject({
    tools: "fs.read\nfs.write\nshell.exec\n",
    perm: "r--\n",
    mount: "/srv\t/data\tro\t-\n/opt\t/opt\trw\tnosuid,noexec\n",
    model: "debug/echo\n",
    label: "mine_t\n",
    approval: "ask\n",
    "system.md": "From the option.\n",
  });
  expect(JSON.parse(made.out).missing[0]).toEqual({
    file: "tool/tsh.d/policy",
    line: "allow mine_t tool:tsh execute",
    command: "ctx append tool/tsh.d/policy 'allow mine_t tool:tsh execute'",
  });
  // Both letters that its tools need, in one line.
  expect(JSON.parse(made.out).missing).toContainEqual({
    file: "agent/opt.d/perm",
    line: "rwx",
    command: "ctx set agent/opt.d/perm rwx",
  });
  const wrong = await place.ctx("agent", "new", "w", "--mount", "/a /b ro", "--mount", "/a /b rx");
  expect([wrong.exit, wrong.err]).toEqual([
    2,
    expect.stringContaining("--mount:2:7: mount access"),
  ]);
});

test("a name that gives no type needs a label, and a link is no program", async () => {
  const bad = await place.ctx("agent", "new", "bad_");
  expect([bad.exit, bad.err]).toEqual([2, expect.stringContaining("--label")]);
  expect((await place.ctx("agent", "new", "bad_", "--label", "bad_t")).exit).toBe(0);
  symlinkSync("/bin/true", join(place.work, "link"));
  const linked = await place.ctx("agent", "new", "l", "--exec", "link");
  expect([linked.exit, linked.err]).toEqual([13, expect.stringContaining("it is a symlink")]);
  const described = join(place.work, "described.md");
  writeFileSync(described, "---\ndescription: x\n---\n");
  const both = await place.ctx("agent", "new", "l", "--from", described, "--exec", "/usr/bin/true");
  expect([both.exit, both.err]).toEqual([
    2,
    expect.stringContaining("described.md:2:14: an agent"),
  ]);
});

test("check names every malformed control and none hides another", async () => {
  await place.ctx("agent", "new", "broken");
  writeFileSync(join(place.source, "agent/broken.d/perm"), "rzx\n");
  writeFileSync(join(place.source, "agent/broken.d/policy"), "# fine\nallow all\n");
  const { exit, out } = await place.ctx("agent", "check", "broken");
  expect(exit).toBe(1);
  expect(out).toContain("agent/broken.d/perm:1:2: perm");
  expect(out).toContain("agent/broken.d/policy:2:10: object is missing");
  expect((await place.ctx("agent", "check", "nobody")).err).toContain("[ENOENT]");
  expect((await place.ctx("agent", "check", "coder")).exit).toBe(0);
  await place.ctx("append", "agent/coder.d/mount", "/nonexistent\t/data\tro\t-");
  const mounted = await place.ctx("agent", "check", "coder");
  expect([mounted.exit, mounted.out]).toEqual([
    1,
    expect.stringContaining("/nonexistent does not"),
  ]);
});

/** Runs apply at a terminal and types `answer` when it asks. */
async function applyAt(answer: string): Promise<[number, string]> {
  let seen = "";
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "main.ts"), "agent", "apply", "tty.md", "reviewer"],
    {
      cwd: place.work,
      env: place.env,
      terminal: {
        cols: 80,
        rows: 24,
        data: (terminal, bytes) => {
          const before = seen.includes("y or n: ");
          seen += new TextDecoder().decode(bytes);
          if (!before && seen.includes("y or n: ")) terminal.write(answer);
        },
      },
    },
  );
  return [await child.exited, seen];
}

test("at a terminal apply asks: no and Ctrl-C write nothing, yes does", async () => {
  writeFileSync(join(place.work, "tty.md"), "---\nperm: r-x\n---\n");
  expect(await applyAt("n\n")).toEqual([1, expect.stringContaining("nothing is written")]);
  expect((await applyAt("\x03"))[0]).toBe(130);
  expect(control("reviewer", "perm")).toBe("r--\n");
  expect(await applyAt("y\n")).toEqual([0, expect.stringContaining("changed agent reviewer")]);
  expect(control("reviewer", "perm")).toBe("r-x\n");
});

test("a difference is the lines between what is the same at both ends", () => {
  expect(differing("a\nb\nc\n", "a\nx\ny\nc\n")).toEqual(["- b", "+ x", "+ y"]);
  expect(differing("", "a\n")).toEqual(["+ a"]);
  expect(differing("a\na\n", "a\n")).toEqual(["- a"]);
  expect(differing("a\n", "a\n")).toEqual([]);
});

test("a command is quoted for a shell and names the tree that was named", () => {
  const fix = { file: "agent/a.d/groups", line: "7\n8" };
  const layer = { layer: "identity", allowed: false, because: "", at: undefined, fix } as const;
  const verdict = { allowed: false, code: "EACCES", layers: [layer] } as const;
  const ruling: Ruling = { object: "tool:x", name: "x", verdict, refusal: layer };
  const [line] = missingLines([ruling, ruling], "/it's here");
  expect(line?.command).toBe(`ctx set agent/a.d/groups 7 8 --source '/it'\\''s here'`);
});
