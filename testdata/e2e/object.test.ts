// Installed objects by the built programs: checked, installed, refused until two lines allow it, called
// by an agent, replaced, and removed by what its receipt says.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Candidate, sha256, writeCandidate } from "../install/candidates.ts";
import { type Finished, World } from "./world.ts";

setDefaultTimeout(120_000);

const world = new World();
const work = join(world.base, "manifests");
beforeAll(async () => {
  mkdirSync(work);
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
});
afterAll(() => world.destroy());

const at = (path: string) => join(world.source, path);
const ctx = (...words: string[]) => world.run(["ctx", ...words]);

/** Runs a command that must succeed. */
async function done(...words: string[]): Promise<string> {
  const { exit, stdout, stderr } = await ctx(...words);
  expect([exit, stderr]).toEqual([0, ""]);
  return stdout;
}

async function refused(exit: number, ...words: string[]): Promise<string> {
  const run: Finished = await ctx(...words);
  expect([run.exit, run.stdout]).toEqual([exit, ""]);
  return run.stderr;
}

const executable = '#!/bin/sh\nread -r line\necho "opened with $line"\n';
const write = (said: Partial<Candidate> = {}) => writeCandidate(work, { executable, ...said });

async function called(): Promise<string> {
  const call = '@call tsh {"args":["box.open","{\\"lid\\":1}"]}\n@say done';
  const id = crypto.randomUUID();
  const argv = ["ctx", "agent", "send", "coder", "--no-workspace", "--raw", "--id", id, call];
  const { stdout } = await world.run(argv);
  return stdout;
}

describe("ctx object", () => {
  test("check says what is valid, writes nothing, and names the place of a fault", async () => {
    const path = write();
    const before = readdirSync(at("tool"));
    expect(await done("object", "check", path)).toBe("valid tool/box.open\n");
    expect(JSON.parse(await done("object", "check", path, "--json"))).toMatchObject({
      valid: true,
      class: "tool",
      name: "box.open",
      version: "1.0.0",
      executable: { path: "bin/box.open", sha256: sha256(executable) },
      manifest_sha256: sha256(readFileSync(path)),
    });
    const v1 = { schema: "cortexfs.object/v1", version: undefined, compatibility: undefined };
    expect(await done("object", "check", write({ manifest: v1 }))).toBe("valid tool/box.open\n");
    const odd = write({ manifest: { licence: "MIT" } });
    expect(await refused(2, "object", "check", odd)).toContain(
      `ctx: "${odd}" line 23, column 3: field "licence": it is not known`,
    );
    const other = write({ manifest: { executable: { path: "bin/box.open", sha256: sha256("") } } });
    expect(await refused(2, "object", "check", other)).toContain('field "executable.sha256": ');
    const narrow = write({ manifest: { compatibility: { cortexfs: ">=99" } } });
    expect(await refused(2, "object", "check", narrow)).toContain("compatibility.cortexfs");
    const link = join(work, "link.json");
    symlinkSync(write(), link);
    expect(await refused(13, "object", "check", link)).toContain("symlink");
    expect(await refused(1, "object", "check", join(work, "no"))).toContain("[ENOENT]");
    expect(await refused(2, "object", "check")).toContain("manifest");
    expect(readdirSync(at("tool"))).toEqual(before);
  });

  test("install grants nothing, and prints the two lines that do", async () => {
    const path = write();
    const lines = await done("object", "install", path);
    expect(lines).toContain("installed tool/box.open 1.0.0, system tier\n");
    const line = "allow coder_t tool:box.open execute";
    expect(lines).toContain(
      "nothing was granted; whoever wants it used adds these lines:\n" +
        `  agent/coder.d/policy: ${line}\n      ctx append agent/coder.d/policy '${line}'\n` +
        `  tool/box.open.d/policy: ${line}\n      ctx append tool/box.open.d/policy '${line}'\n`,
    );
    expect(readFileSync(at("tool/box.open.d/policy"), "utf8")).toBe("");
    expect(readFileSync(at("agent/coder.d/policy"), "utf8")).not.toContain("box.open");
    expect(await refused(1, "object", "install", path)).toContain(
      'ctx: "tool/box.open" exists already [EEXIST]',
    );
    await world.serve();
    const missing = (file: string) => `no line of ${file} says: ${line}`;
    const [agents, tools] = ["agent/coder.d/policy", "tool/box.open.d/policy"] as const;
    const listed = async () => {
      const said = await done("agent", "tools", "coder");
      return said.split("\n").find((one) => one.startsWith("box.open "));
    };
    expect(await called()).toContain(missing(agents));
    expect(await listed()).toEndWith(
      `refused  agent_policy: ${missing(agents)}; object_policy: ${missing(tools)}`,
    );
    const explained = await ctx("policy", "explain", "coder", "tool:box.open", "execute");
    expect(explained.exit).toBe(13);
    for (const file of [agents, tools]) {
      expect(explained.stdout).toContain(`to allow it, ${file} needs the line\n`);
    }
    const before = readFileSync(at(agents), "utf8");
    await done("append", agents, line);
    expect(await called()).toContain(missing(tools));
    await done("append", tools, line);
    expect(await called()).toContain("opened with");
    expect(await listed()).toEndWith("allowed  through tsh");
    writeFileSync(at(agents), before);
    expect(await called()).toContain(missing(agents));
    await done("append", agents, line);
    expect(await called()).toContain("opened with");
    writeFileSync(at(tools), "");
    expect(await called()).toContain(missing(tools));
    await done("append", tools, line);
    expect(await done("object", "install", write({ name: "box.shut" }))).toContain(
      "nothing was granted",
    );
  });

  test("replace keeps the policy, and inspect tells a changed executable", async () => {
    const before = readFileSync(at("tool/box.open.d/install.json"));
    const next = write({ executable: `${executable}# 2\n`, manifest: { version: "2.0.0" } });
    const said = await done("object", "install", next, "--replace");
    expect(said).toContain("replaced tool/box.open 2.0.0, system tier\n");
    expect(said).toContain("kept        policy, as they were");
    expect(said).toContain("nothing was granted, and no line is missing");
    expect(await called()).toContain("opened with");
    const shown = JSON.parse(await done("object", "inspect", "tool/box.open", "--json"));
    const { ino } = lstatSync(at("tool/box.open"), { bigint: true });
    expect(shown).toMatchObject({ object: "tool/box.open", intact: true, fault: null });
    expect(shown.receipt).toMatchObject({
      schema: "cortexfs.object-install/v2",
      version: "2.0.0",
      tier: "system",
      previous: sha256(before),
      executable: { ino: String(ino), sha256: sha256(`${executable}# 2\n`) },
    });
    appendFileSync(at("tool/box.shut"), "# mine\n");
    const changed = await ctx("object", "inspect", "/ctx/tool/box.shut");
    expect([changed.exit, changed.stderr]).toEqual([1, ""]);
    expect(changed.stdout).toContain("not as it was installed: its content has changed");
    expect(await refused(13, "object", "uninstall", "tool/box.shut", "--yes")).toContain(
      "[EACCES]",
    );
    expect(await refused(13, "object", "inspect", "tool/fs.read")).toContain("it has no receipt");
  });

  test("uninstall says first, to the last path, what it then does", async () => {
    const planned = await done("object", "uninstall", "tool/box.open");
    expect(planned).toStartWith("would remove tool/box.open 2.0.0, system tier\n  tool/box.open\n");
    expect(planned).toEndWith("  tool/box.open.d/\nnothing was removed; --yes does it\n");
    expect(existsSync(at("tool/box.open"))).toBe(true);
    const removed = await done("object", "uninstall", "tool/box.open", "--yes");
    const paths = (text: string) => text.split("\n").filter((line) => line.startsWith("  "));
    expect(paths(removed)).toEqual(paths(planned));
    expect(readdirSync(at("tool")).filter((name) => /box\.open/.test(name))).toEqual([]);
    expect(await called()).toContain("ENOENT");
    expect(await refused(1, "object", "uninstall", "tool/box.open")).toContain("[ENOENT]");
  });

  test("an agent and the user tier", async () => {
    const agent = { class: "agent", name: "boxer", executable: "#!/bin/sh\nexit 0\n" } as const;
    const said = await done("object", "install", write(agent));
    expect(said).toContain("installed agent/boxer 1.0.0, system tier\n");
    const policy = ["allow sly_t network:default connect", "allow sly_t model:debug/echo use"];
    const sly = { ...agent, name: "sly", controls: { label: "sly_t", policy } };
    expect(await done("object", "install", write(sly))).toContain(
      "\n  may do      model:debug/echo, network:default connect, by policy lines that are there\n" +
        "nothing else was granted; whoever wants it used adds these lines:\n",
    );
    const posing = { ...sly, name: "posing", controls: { label: "coder_t" } };
    expect(await refused(2, "object", "install", write(posing))).toContain("of agent");
    expect(await done("agent", "list")).toContain("boxer");
    expect(await refused(2, "object", "install", write(agent), "--tier", "user")).toContain("tier");
    expect(await refused(2, "object", "install", write(), "--tier", "root")).toContain('"root"');
    const home = `home/${world.uid}/tool/box.open`;
    expect(await done("object", "install", write(), "--tier", "user")).toContain(
      `installed ${home} 1.0.0, user tier\n`,
    );
    expect(lstatSync(at(home)).uid).toBe(world.uid);
    expect(await done("object", "uninstall", home, "--yes")).toStartWith(`removed ${home}`);
    expect(await done("object", "uninstall", "agent/boxer", "--yes")).toStartWith(
      "removed agent/boxer",
    );
    expect(await done("agent", "list")).not.toContain("boxer");
  });

  test("a view is no target", async () => {
    const view = join(world.base, "view");
    for (const name of ["bin", "model", "agent", "tool", "home"]) {
      mkdirSync(join(view, name), { recursive: true });
    }
    const said = await refused(1, "object", "install", write(), "--source", view);
    expect(said).toContain("it is no source tree");
    expect(readdirSync(join(view, "tool"))).toEqual([]);
  });

  test("residue is listed, and goes only by path, device and inode", async () => {
    expect(await done("object", "residue", "audit")).toBe("no residue\n");
    const path = "tool/.box.open.0123456789ab.install";
    mkdirSync(at(path));
    writeFileSync(at(`${path}/cap`), "read\n");
    const { dev, ino } = lstatSync(at(path), { bigint: true });
    const listed = await done("object", "residue", "audit");
    expect(listed).toStartWith(`${path} ${dev} ${ino}  `);
    const clean = ["object", "residue", "cleanup", path];
    expect(await refused(13, ...clean, String(dev), String(ino + 1n))).toContain("another file");
    expect(await refused(2, ...clean)).toContain("cleanup needs path, device and inode");
    expect(await refused(2, "object", "residue", "burn")).toContain('"burn"');
    const live = lstatSync(at("tool/fs.read.d"), { bigint: true });
    const other = ["object", "residue", "cleanup", "tool/fs.read.d"];
    expect(await refused(2, ...other, String(live.dev), String(live.ino))).toContain("no residue");
    expect(await done(...clean, String(dev), String(ino))).toBe(`removed ${path}\n`);
    expect(existsSync(at(path))).toBe(false);
  });

  test("every command has its help with an example", async () => {
    for (const word of ["check", "install", "inspect", "uninstall", "residue"]) {
      const help = await done("object", word, "--help");
      expect(help).toContain(`ctx object ${word}`);
      expect(help).toMatch(/\nExamples?:\n {2}ctx object /);
    }
    expect(await done("--help")).toContain("object check|install MANIFEST");
    expect(await done("object", "--help")).toContain("ctx object residue");
  });
});
