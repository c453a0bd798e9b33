// That an agent appears whole or not at all, whatever happens meanwhile.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isRoot, refusal, snapshot, TestTree } from "../../testdata/tree/test-tree.ts";
import type { AgentDescription } from "./mod.ts";
import {
  agentNames,
  checkNameFree,
  isModelAgent,
  loadAgent,
  openProgram,
  planAgent,
  publishAgent,
  type Tree,
} from "./mod.ts";

setDefaultTimeout(120_000);

let made: TestTree;
let tree: Tree;
beforeEach(() => {
  made = new TestTree();
  made.bootstrap();
  tree = made.open();
});
afterEach(() => {
  tree.close();
  made.destroy();
});

const nothing: AgentDescription = {
  name: undefined,
  controls: new Map(),
  description: undefined,
  program: undefined,
};

function make(name: string): void {
  const { owner } = made;
  const places = { config: made.base, uid: owner.uid };
  const controls = planAgent({ tree, places, owner, groups: [] }, name, nothing);
  const executable = { kind: "model", description: "Made by a test" } as const;
  publishAgent(tree, { name, owner, controls, executable });
}

/** What is in `agent/` of one name, staged or not. */
function ofName(name: string): Map<string, string> {
  const all = [...snapshot(join(made.source, "agent"))];
  return new Map(all.filter(([path]) => path.split("/")[0]?.includes(name)));
}

const child = join(import.meta.dir, "publish-child.ts");

function runChild(name: string, at: number) {
  const argv = [process.execPath, child, made.source, name, String(at)];
  const { stdout, stderr, signalCode } = Bun.spawnSync(argv, { stdout: "pipe", stderr: "pipe" });
  return { out: stdout.toString(), err: stderr.toString(), signalCode };
}

describe("a new agent", () => {
  test("is as the bootstrapped ones are: owner, modes, the same files", () => {
    make("helper");
    const shape = (name: string) =>
      [...ofName(name)].map(([path, what]) => [
        path.replace(name, "NAME"),
        what.split(" ").slice(0, 2).join(" "),
      ]);
    // It says its approval, which bootstrap leaves to the default.
    const perm = shape("coder").find(([path]) => path === "NAME.d/perm");
    const expected = [...shape("coder"), ["NAME.d/approval", perm?.[1] ?? ""]];
    expect(shape("helper").sort()).toEqual(expected.sort());
    expect(isModelAgent(tree, "helper")).toBe(true);
    expect(readFileSync(made.path("agent/helper"), "utf8")).toContain("\n# description: Made by");
  });

  test("has the least authority: it reads, and its policy names what it has and no network", () => {
    make("helper");
    const { perm, label, tools, model, approval, policy, owner } = loadAgent(tree, "helper");
    expect({ perm, label, tools, model, approval, owner }).toEqual({
      perm: { read: true, write: false, execute: false },
      label: { text: "user_u:agent_r:helper_t:s0", type: "helper_t" },
      tools: ["fs.read", "fs.list", "fs.stat"],
      model: [{ kind: "alias", name: "main" }],
      approval: "auto",
      owner: made.owner.uid,
    });
    const lines = policy.lines.map(({ object, permission }) => [
      `${object.class}:${object.name}`,
      permission,
    ]);
    expect(lines).toEqual([
      ["tool:tsh", "execute"],
      ["tool:fs.read", "execute"],
      ["tool:fs.list", "execute"],
      ["tool:fs.stat", "execute"],
      ["model:debug/echo", "use"],
    ]);
  });

  test("takes no name that is there, of an agent or of a person's folder of controls", () => {
    make("helper");
    expect(refusal(() => make("helper")).code).toBe("EEXIST");
    expect(refusal(() => make("coder")).code).toBe("EEXIST");
    mkdirSync(made.path("agent/mine.d"));
    writeFileSync(made.path("agent/mine.d/system.md"), "kept\n");
    expect(refusal(() => checkNameFree(tree, "mine")).code).toBe("EEXIST");
    for (const name of ["", "..", "../helper", "helper.d"]) {
      expect(refusal(() => checkNameFree(tree, name)).code).toBe("EINVAL");
    }
    expect(refusal(() => make("mine")).code).toBe("EEXIST");
    expect(readFileSync(made.path("agent/mine.d/system.md"), "utf8")).toBe("kept\n");
  });
});

test("killed before any call that changes the disk, it is whole or not there, and can be made", () => {
  const whole = runChild("helper", 0);
  expect([whole.err, whole.out]).toEqual(["", expect.stringMatching(/^begin\n\d+\n$/)]);
  const count = Number(whole.out.split("\n")[1]);
  expect(count).toBeGreaterThan(60);
  const expected = ofName("helper");
  const remove = () => {
    rmSync(made.path("agent/helper"), { force: true });
    rmSync(made.path("agent/helper.d"), { recursive: true, force: true });
  };
  remove();
  // A prime step, and the last calls one by one: there the names appear.
  const step = process.env["CTX_LONG"] === "1" ? 1 : 7;
  let cut = 0;
  let staged = 0;
  for (let at = 1; at <= count; at += at > count - 10 ? 1 : Math.min(step, count - at || 1)) {
    const { signalCode } = runChild("helper", at);
    expect([at, signalCode]).toEqual([at, "SIGKILL"]);
    if (agentNames(tree).includes("helper")) expect([at, ofName("helper")]).toEqual([at, expected]);
    else {
      cut += 1;
      if (ofName("helper").size > 0) staged += 1;
      make("helper");
    }
    make("other");
    expect([at, ofName("helper")]).toEqual([at, expected]);
    expect(readdirSync(made.path("agent")).filter((name) => name.startsWith("."))).toEqual([]);
    remove();
    rmSync(made.path("agent/other"));
    rmSync(made.path("agent/other.d"), { recursive: true });
  }
  expect(cut).toBeGreaterThan(10);
  expect(staged).toBeGreaterThan(5);
});

test("controls that got their name before their executable did are taken away by the next", () => {
  make("helper");
  renameSync(made.path("agent/helper"), made.path("agent/helper.d/.executable.new"));
  writeFileSync(made.path("agent/helper.d/perm"), "rwx\n");
  expect(agentNames(tree)).not.toContain("helper");
  make("helper");
  expect(readFileSync(made.path("agent/helper.d/perm"), "utf8")).toBe("r--\n");
});

test("of eight at once exactly one makes it and the others are told that it is there", async () => {
  const script = `const { openTree, planAgent, publishAgent, treeOwner } =
      await import(${JSON.stringify(join(import.meta.dir, "mod.ts"))});
    const tree = openTree(${JSON.stringify(made.source)}); const owner = treeOwner(tree.source);
    const places = { config: "/none", uid: owner.uid };
    const nothing = { controls: new Map() };
    const controls = planAgent({ tree, owner, places, groups: [] }, "helper", nothing);
    try { publishAgent(tree, { name: "helper", owner, controls, executable: { kind: "model" } });
      console.log("made"); } catch (error) { console.log(error.code); }`;
  const children = Array.from({ length: 8 }, () =>
    Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" }),
  );
  const said = await Promise.all(children.map((one) => new Response(one.stdout).text()));
  expect(said.sort()).toEqual([...Array(7).fill("EEXIST\n"), "made\n"]);
  expect(loadAgent(tree, "helper").perm.write).toBe(false);
});

describe("a program", () => {
  const file = (name: string) => join(made.base, name);
  const code = (path: string) => refusal(() => openProgram(path)).code;

  test("is copied as it is, executable by all and writable by its owner alone", () => {
    writeFileSync(file("p"), "#!/bin/sh\necho hi\n", { mode: 0o700 });
    const program = openProgram(file("p"));
    const { owner } = made;
    const places = { config: made.base, uid: owner.uid };
    const controls = planAgent({ tree, places, owner, groups: [] }, "runner", nothing);
    publishAgent(tree, {
      name: "runner",
      owner,
      controls,
      executable: { kind: "program", program },
    });
    program.close();
    const [mode, whose] = (ofName("runner").get("runner") ?? "").split(" ");
    expect([mode, whose]).toEqual(["755", `${owner.uid}:${owner.gid}`]);
    expect(readFileSync(made.path("agent/runner"), "utf8")).toBe("#!/bin/sh\necho hi\n");
    expect(isModelAgent(tree, "runner")).toBe(false);
  });

  test("that changes between being looked at and copied makes no agent", () => {
    writeFileSync(file("p"), "#!/bin/sh\necho hi\n", { mode: 0o755 });
    const program = openProgram(file("p"));
    writeFileSync(file("p"), "#!/bin/sh\necho other\n");
    const { owner } = made;
    const places = { config: made.base, uid: owner.uid };
    const controls = planAgent({ tree, places, owner, groups: [] }, "runner", nothing);
    const executable = { kind: "program", program } as const;
    expect(
      refusal(() => publishAgent(tree, { name: "runner", owner, controls, executable })),
    ).toMatchObject({ code: "EIO" });
    program.close();
    expect(ofName("runner")).toEqual(new Map());
  });

  test("is a regular executable file of bounded size with something in it", () => {
    writeFileSync(file("p"), "#!/bin/sh\n", { mode: 0o755 });
    symlinkSync(file("p"), file("link"));
    writeFileSync(file("plain"), "text", { mode: 0o644 });
    writeFileSync(file("empty"), "", { mode: 0o755 });
    writeFileSync(file("large"), "", { mode: 0o755 });
    Bun.spawnSync(["truncate", "-s", String(256 * 1024 * 1024 + 1), file("large")]);
    Bun.spawnSync(["mkfifo", "-m", "755", file("pipe")]);
    expect(existsSync(file("pipe"))).toBe(true);
    expect(code(file("link"))).toBe("EACCES");
    expect(code(file("plain"))).toBe("EACCES");
    expect(code(file("empty"))).toBe("EINVAL");
    expect(code(file("large"))).toBe("EMSGSIZE");
    expect(code(file("pipe"))).toBe("EACCES");
    expect(code(made.base)).toBe("EACCES");
    expect(code(file("none"))).toBe("ENOENT");
    expect(code(made.path("agent/coder"))).toBe("EINVAL");
  });
});

test("a symlink that the owner put in the way is not followed", () => {
  if (!isRoot) return console.log("SKIP only root writes into a folder of another user");
  const outside = join(made.base, "outside");
  mkdirSync(outside);
  chmodSync(outside, 0o777);
  symlinkSync(outside, made.path("agent/helper.d"));
  expect(refusal(() => make("helper")).code).toBe("EEXIST");
  symlinkSync(join(outside, "x"), made.path("agent/.helper.0123456789ab.new"));
  make("other");
  expect(readdirSync(outside)).toEqual([]);
  expect(readdirSync(made.path("agent")).filter((name) => name.startsWith("."))).toEqual([]);
});
