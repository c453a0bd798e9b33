import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownerUid, Place } from "../../testdata/cli/program.ts";
import { commandNames } from "./dispatch.ts";

// Programs are started from source, many at once, on machines with few cores.
setDefaultTimeout(120_000);

const place = new Place();
beforeAll(() => place.bootstrap());
afterAll(() => place.remove());

const control = (name: string) => readFileSync(join(place.source, name), "utf8");

describe("help", () => {
  const all = [
    ...commandNames().filter((name) => name !== "agent" && name !== "policy"),
    ...commandNames("agent").map((name) => `agent ${name}`),
    ...commandNames("policy").map((name) => `policy ${name}`),
  ];

  test("every command has one with its usage and an example", async () => {
    expect(all.length).toBeGreaterThan(20);
    const texts = await Promise.all(
      all.map(async (name) => ({ name, ...(await place.ctx(...name.split(" "), "--help")) })),
    );
    for (const { name, exit, out, err } of texts) {
      expect([name, exit, err]).toEqual([name, 0, ""]);
      expect([name, out]).toEqual([
        name,
        expect.stringMatching(/^Usage: ctx .*\n(?:.*\n)*Examples?:\n {2}ctx /),
      ]);
    }
  });

  test("groups list their commands, and a missing or unknown one is bad input", async () => {
    expect((await place.ctx("agent", "--help")).out).toContain("ctx agent send <agent> [input..]");
    expect((await place.ctx("agent")).exit).toBe(2);
    for (const argv of [
      ["agent", "fly"],
      ["fly"],
      ["agent", "list", "--fly"],
      ["status", "--fly"],
    ]) {
      const { exit, err } = await place.ctx(...argv);
      expect([argv, exit]).toEqual([argv, 2]);
      expect(err).toMatch(/^ctx: unknown .*fly.*\[EINVAL\]\n {2}hint: /);
    }
  });

  test("who looks for the manual is led to it", async () => {
    const { exit, err } = await place.ctx("man", "ctx.terminal");
    const led = /ctx cat (\S+)\n/.exec(err)?.[1] ?? "nowhere";
    expect([exit, (await place.ctx("--help")).out]).toEqual([2, expect.stringContaining(led)]);
    expect((await place.ctx("cat", led)).out).toStartWith("# The manual of CortexFS");
  });

  test("--version says version, commit and formats, as text and as JSON", async () => {
    expect((await place.ctx("--version")).out).toMatch(
      /^ctx 0\.1\.0 \(\S+\) op\/v1 interaction\/v1 sdk-envelope\/v1 control\/v1 /,
    );
    expect(JSON.parse((await place.ctx("--version", "--json")).out)).toMatchObject({
      program: "ctx",
      version: "0.1.0",
      abi: expect.arrayContaining(["op/v1"]),
    });
  });
});

describe("facts", () => {
  test("status as text and JSON, without a server and without a tree", async () => {
    const facts = JSON.parse((await place.ctx("status", "--json")).out);
    expect(facts).toMatchObject({
      source: place.source,
      root: place.source,
      agents: ["architect", "coder", "reviewer"],
      server: null,
    });
    expect((await place.ctx("status")).out).toContain("server   not running\n");
    const { exit, err } = await place.ctx("status", "--source", join(place.base, "none"));
    expect([exit, err.split("\n")[0]]).toEqual([
      1,
      `ctx: cannot find tree "${join(place.base, "none")}" [ENOENT]`,
    ]);
    expect(err).toContain("hint: run ctx bootstrap");
  });

  test("ls and cat name things from the root, below /ctx and by the full path, never outside", async () => {
    expect((await place.ctx("ls")).out).toBe(
      "agent/\nbin/\nhome/\nmodel/\nshared/\nstatus\ntool/\n",
    );
    for (const path of [
      "agent/coder.d/perm",
      "/ctx/agent/coder.d/perm",
      `${place.source}/agent/coder.d/perm`,
    ]) {
      expect((await place.ctx("cat", path)).out).toBe("rwx\n");
    }
    for (const path of ["/etc/passwd", "../x", "agent/../../x"]) {
      const { exit, err } = await place.ctx("cat", path);
      expect([path, exit, err]).toEqual([path, 13, expect.stringContaining("[EACCES]")]);
    }
    expect((await place.ctx("cat", "agent")).exit).toBe(2);
    expect((await place.ctx("cat", "none")).exit).toBe(1);
    const [first] = (await place.ctx("ls", "agent", "--json")).out.split("\n");
    expect(Object.keys(JSON.parse(first as string))).toEqual([
      "name",
      "type",
      "size",
      "mode",
      "mtime",
    ]);
  });

  test("cat into a pipe gives the bytes; a name that steers terminals is escaped in ls", async () => {
    const bytes = "\x1b[31m\x9b\r\n";
    mkdirSync(join(place.source, "shared/odd"));
    writeFileSync(join(place.source, "shared/odd/\x1b[2Jx"), bytes);
    writeFileSync(join(place.source, "shared/odd/plain"), bytes);
    expect((await place.ctx("cat", "shared/odd/plain")).out).toBe(bytes);
    expect((await place.ctx("ls", "shared/odd")).out).toBe("\\x1b[2Jx\nplain\n");
    expect((await place.ctx("cat", "shared/odd/plain", "--json")).out).toContain("\\u009b");
  });

  test("which finds agents, tools and models and no symlink posing as a tool", async () => {
    for (const [kind, name] of [
      ["agent", "coder"],
      ["tool", "fs.read"],
      ["model", "debug/echo"],
    ] as const) {
      expect((await place.ctx("which", kind, name)).out).toBe(`${place.source}/${kind}/${name}\n`);
    }
    symlinkSync("/bin/sh", join(place.source, "tool/fake"));
    expect((await place.ctx("which", "tool", "fake")).exit).toBe(1);
    expect((await place.ctx("which", "tool", "../x")).exit).toBe(2);
  });

  test("agent list, tools and prompt say what the files say", async () => {
    const agents = (await place.ctx("agent", "list", "--json")).out.trim().split("\n");
    expect(agents.map((line) => JSON.parse(line))).toContainEqual({
      agent: "coder",
      valid: true,
      owner: ownerUid,
      perm: "rwx",
      model: "main",
      kind: "model",
    });
    const tools = (await place.ctx("agent", "tools", "reviewer", "--json")).out.trim().split("\n");
    const write = tools.map((line) => JSON.parse(line)).find(({ tool }) => tool === "fs.write");
    expect(write).toMatchObject({ allowed: false, layer: "perm" });
    expect((await place.ctx("agent", "prompt", "coder")).out).toContain(
      "Your only native callable tool is tsh.",
    );
  });

  test("policy explain prints every layer and exits by the verdict", async () => {
    const refused = await place.ctx("policy", "explain", "reviewer", "tool:fs.write", "execute");
    expect(refused.exit).toBe(13);
    for (const layer of [
      "path",
      "identity",
      "mode",
      "mount",
      "perm",
      "label",
      "agent_policy",
      "object_policy",
    ]) {
      expect(refused.out).toMatch(new RegExp(`^ {2}(ok|refused) +${layer} `, "m"));
    }
    expect((await place.ctx("policy", "explain", "coder", "tool:fs.write", "execute")).exit).toBe(
      0,
    );
    for (const argv of [
      ["tool", "execute"],
      ["tool:*", "execute"],
      ["tool:fs.read", "eat"],
    ]) {
      expect((await place.ctx("policy", "explain", "coder", ...argv)).exit).toBe(2);
    }
  });

  test("policy check names the file, the line and the column", async () => {
    expect((await place.ctx("policy", "check")).exit).toBe(0);
    const path = join(place.base, "policy");
    writeFileSync(path, "# fine\nallow coder_t tool:* execute\n");
    const { exit, out } = await place.ctx("policy", "check", path);
    expect(exit).toBe(2);
    expect(out).toMatch(new RegExp(`^${path}:2:[0-9]+: .*\\[EINVAL\\]\n$`));
    expect((await place.ctx("policy", "check", "nobody")).exit).toBe(1);
  });

  test("doctor gives one line a check and JSON with name, level and text", async () => {
    const { out } = await place.ctx("doctor", "--json");
    const checks = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(checks.map(({ name }) => name)).toContain("bubblewrap");
    for (const check of checks) expect(["ok", "warn", "fail"]).toContain(check.level);
    const broken = await place.ctx("doctor", "--source", join(place.base, "none"));
    expect(broken.exit).toBe(1);
    expect(broken.out).toMatch(/^fail {2}tree .*cannot find tree/m);
    expect(broken.out).toMatch(/^ +fix: run ctx bootstrap/m);
  });

  test("completion prints a script of each shell and answers with names", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      expect((await place.ctx("completion", shell)).out).toContain("ctx completion names");
    }
    expect((await place.ctx("completion", "csh")).exit).toBe(2);
    expect((await place.ctx("completion", "names", "agents")).out).toBe(
      "architect\ncoder\nreviewer\n",
    );
    expect((await place.ctx("completion", "names", "paths", "agent/coder.d/ow")).out).toBe(
      "agent/coder.d/owner\n",
    );
  });
});

describe("set", () => {
  test("takes a valid value, several lines and standard input", async () => {
    expect(await place.ctx("set", "agent/coder.d/window", "4096")).toEqual({
      exit: 0,
      out: "",
      err: "",
    });
    expect(control("agent/coder.d/window")).toBe("4096\n");
    await place.ctx("set", "agent/coder.d/tools", "fs.read", "fs.list");
    expect(control("agent/coder.d/tools")).toBe("fs.read\nfs.list\n");
    await place.run(["ctx", "set", "/ctx/agent/coder.d/perm", "-"], { input: "r-x\n" });
    expect(control("agent/coder.d/perm")).toBe("r-x\n");
  });

  test("a wrong value is refused with its place and the old one stays", async () => {
    for (const [name, value] of [
      ["perm", "rwz"],
      ["uid", "-1"],
      ["policy", "allow * * *"],
    ] as const) {
      const old = control(`agent/coder.d/${name}`);
      const { exit, err } = await place.ctx("set", `agent/coder.d/${name}`, value);
      expect([name, exit, err]).toEqual([
        name,
        2,
        expect.stringMatching(/line 1, column [0-9]+: .*\[EINVAL\]/),
      ]);
      expect(control(`agent/coder.d/${name}`)).toBe(old);
    }
  });
});

describe("output", () => {
  test("a reader that goes away ends the program quietly", async () => {
    writeFileSync(join(place.source, "shared/odd/big"), "line\n".repeat(400_000));
    const main = join(import.meta.dir, "main.ts");
    const child = Bun.spawn(
      [
        "/bin/bash",
        "-c",
        `"$0" "$1" cat shared/odd/big | head -n 1; echo "\${PIPESTATUS[0]}"`,
        process.execPath,
        main,
      ],
      { env: { ...place.env }, cwd: place.work, stdout: "pipe", stderr: "pipe" },
    );
    expect(await new Response(child.stdout).text()).toBe("line\n0\n");
    expect(await new Response(child.stderr).text()).toBe("");
  });

  test("an error that nobody foresaw shows its stack only under CTX_DEBUG=1", async () => {
    const { err } = await place.ctx("cat", "none");
    expect(err).not.toContain("    at ");
    const debug = await place.run(["ctx", "cat", "none"], { env: { CTX_DEBUG: "1" } });
    expect(debug.err).toContain("    at ");
  });
});
