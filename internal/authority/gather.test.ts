import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bootstrap, loadAgent, openTree, type Tree } from "../tree/mod.ts";
import {
  authorize,
  decide,
  firstRefusal,
  gatherFacts,
  type Question,
  type Server,
  visibleTools,
} from "./mod.ts";

// A tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

const folder = mkdtempSync(join(tmpdir(), "authority-"));
const binaries = join(folder, "programs");
const uid = process.getuid?.() ?? 0;
// Agents may not be root, so a root run gives the tree to somebody else, as bootstrap does.
const owner = uid === 0 ? { uid: 61184, gid: 61184 } : { uid, gid: process.getgid?.() ?? uid };
const groups = uid === 0 ? [] : (process.getgroups?.() ?? []).filter((one) => one !== owner.gid);
const server: Server =
  uid === 0 ? { uid: 0, groups: [], rootAgents: false } : { ...owner, groups, rootAgents: false };

let tree: Tree;
let count = 0;

beforeAll(() => {
  chmodSync(folder, 0o755);
  mkdirSync(binaries);
  for (const name of ["ctx", "tsh", "ctxterm", "ctxmcp", "ctxd"]) {
    writeFileSync(join(binaries, name), "#!/bin/sh\n", { mode: 0o755 });
  }
});
beforeEach(() => {
  tree?.close();
  count += 1;
  const source = join(folder, `tree-${count}`);
  bootstrap({ source, owner, groups, binaries });
  tree = openTree(source);
});
afterAll(() => {
  tree?.close();
  rmSync(folder, { recursive: true });
});

const at = (relative: string) => join(tree.source, relative);
const write = (relative: string, text: string) => {
  mkdirSync(dirname(at(relative)), { recursive: true });
  writeFileSync(at(relative), text);
};
const append = (relative: string, line: string) =>
  writeFileSync(at(relative), `${readFileSync(at(relative), "utf8")}${line}\n`);
const tool = (name: string): Question => ({
  object: { class: "tool", name },
  permission: "execute",
});

function input(question: Question, agent = "coder") {
  return { tree, agent, controls: loadAgent(tree, agent), server, question };
}
function verdict(question: Question, agent = "coder") {
  return decide(gatherFacts(input(question, agent)), question);
}
const refusedBy = (question: Question, agent = "coder") => {
  const { code, ...rest } = verdict(question, agent);
  return [code, firstRefusal({ code, ...rest })?.layer];
};

/** An ordinary tool of this name in a folder of the tree, which `coder` may execute. */
function installTool(place: string, name: string): void {
  write(`${place}/${name}`, "#!/bin/sh\n");
  chmodSync(at(`${place}/${name}`), 0o755);
  write(`${place}/${name}.d/name`, `${name}\n`);
  write(`${place}/${name}.d/description`, "A tool.\n");
  write(`${place}/${name}.d/schema`, '{"type":"object"}\n');
  write(`${place}/${name}.d/policy`, `allow coder_t tool:${name} execute\n`);
}

describe("a bootstrapped tree", () => {
  test("lets coder write and architect only read", () => {
    expect(verdict(tool("fs.write")).allowed).toBe(true);
    expect(verdict(tool("fs.read"), "architect").allowed).toBe(true);
    expect(refusedBy(tool("fs.write"), "architect")).toEqual(["EACCES", "perm"]);
    expect(refusedBy(tool("fs.nothing"))).toEqual(["ENOENT", "path"]);
  });

  test("shows each agent what it may execute, and nothing else", () => {
    const names = (agent: string) => {
      const controls = loadAgent(tree, agent);
      return visibleTools({ tree, agent, controls, server }).map((one) => one.tool.name);
    };
    const coder = names("coder");
    for (const name of ["fs.read", "fs.write", "fs.replace", "shell.exec"]) {
      expect(coder).toContain(name);
    }
    expect(names("architect")).toContain("fs.read");
    for (const name of ["fs.write", "fs.replace", "shell.exec", "bash"]) {
      expect(names("architect")).not.toContain(name);
    }
    for (const name of coder) expect([name, verdict(tool(name)).allowed]).toEqual([name, true]);
  });

  test("gives back the very tool that was decided about", () => {
    const { verdict: decided, tool: found } = authorize(input(tool("fs.read")));
    expect([decided.allowed, found?.viewPath]).toEqual([true, "/ctx/tool/fs.read"]);
  });
});

describe("every question reads the files anew", () => {
  test("perm", () => {
    write("agent/coder.d/perm", "r--\n");
    expect(refusedBy(tool("fs.write"))).toEqual(["EACCES", "perm"]);
    write("agent/coder.d/perm", "rw-\n");
    expect(verdict(tool("fs.write")).allowed).toBe(true);
  });

  test("the policies, and the line that a refusal names is the one that allows", () => {
    installTool("tool", "extra");
    const first = firstRefusal(verdict(tool("extra")));
    expect(first?.fix).toEqual({
      file: "agent/coder.d/policy",
      line: "allow coder_t tool:extra execute",
    });
    append(first?.fix?.file ?? "", first?.fix?.line ?? "");
    expect(verdict(tool("extra")).allowed).toBe(true);
    write("tool/extra.d/policy", "");
    expect(refusedBy(tool("extra"))).toEqual(["EACCES", "object_policy"]);
    rmSync(at("tool/extra.d/policy"));
    expect(refusedBy(tool("extra"))).toEqual(["EACCES", "object_policy"]);
  });

  test("mode bits of the executable", () => {
    installTool("tool", "extra");
    append("agent/coder.d/policy", "allow coder_t tool:extra execute");
    expect(verdict(tool("extra")).allowed).toBe(true);
    // Files here belong to whoever runs this; the agent is their owner or, below root, another.
    chmodSync(at("tool/extra"), uid === 0 ? 0o744 : 0o655);
    expect(refusedBy(tool("extra"))).toEqual(["EACCES", "mode"]);
  });

  test("mounts with noexec", () => {
    write("agent/coder.d/mount", "/srv/x\t/ctx/tool\tro\tnoexec\n");
    expect(refusedBy(tool("fs.read"))).toEqual(["EACCES", "mount"]);
  });

  test("identity", () => {
    write("agent/coder.d/uid", "0\n");
    expect(refusedBy(tool("fs.read"))).toEqual(["EACCES", "identity"]);
    write("agent/coder.d/uid", "4000\n");
    const asked = input(tool("fs.read"));
    const plain = { uid: 1000, gid: 1000, groups: [], rootAgents: false };
    const { verdict: decided } = authorize({ ...asked, server: plain });
    expect(firstRefusal(decided)?.fix).toEqual({ file: "agent/coder.d/uid", line: "1000" });
  });
});

describe("CTX_PATH", () => {
  const both = "/ctx/home/7/tool\n/ctx/tool\n";

  test("is searched from left to right and the nearest controls are the hit's own", () => {
    installTool("tool", "extra");
    installTool("home/7/tool", "extra");
    append("agent/coder.d/policy", "allow coder_t tool:extra execute");
    write("agent/coder.d/path", both);
    const { tool: hit } = authorize(input(tool("extra")));
    expect([hit?.viewPath, hit?.policyFile]).toEqual([
      "/ctx/home/7/tool/extra",
      "home/7/tool/extra.d/policy",
    ]);
    rmSync(at("home/7/tool/extra.d/policy"));
    expect(refusedBy(tool("extra"))).toEqual(["EACCES", "object_policy"]);
  });

  test("passes over what is not an executable regular file", () => {
    installTool("tool", "extra");
    append("agent/coder.d/policy", "allow coder_t tool:extra execute");
    write("agent/coder.d/path", both);
    write("home/7/tool/extra", "plain\n");
    expect(authorize(input(tool("extra"))).tool?.viewPath).toBe("/ctx/tool/extra");
    rmSync(at("home/7/tool/extra"));
    symlinkSync(at("tool/extra"), at("home/7/tool/extra"));
    expect(authorize(input(tool("extra"))).tool?.viewPath).toBe("/ctx/tool/extra");
    rmSync(at("home/7/tool/extra"));
    mkdirSync(at("home/7/tool/extra"));
    expect(authorize(input(tool("extra"))).tool?.viewPath).toBe("/ctx/tool/extra");
  });

  test("is not followed through a symlinked folder or out of the view", () => {
    installTool("tool", "extra");
    append("agent/coder.d/policy", "allow coder_t tool:extra execute");
    mkdirSync(at("home/7"), { recursive: true });
    symlinkSync(at("tool"), at("home/7/tool"));
    write("agent/coder.d/path", `/ctx/home/7/tool\n${at("tool")}\n`);
    const decided = verdict(tool("extra"));
    expect([decided.allowed, firstRefusal(decided)?.layer]).toEqual([false, "path"]);
    const controls = loadAgent(tree, "coder");
    expect(visibleTools({ tree, agent: "coder", controls, server })).toEqual([]);
  });

  test("a malformed control makes that tool unavailable and does not fall through to the next", () => {
    installTool("tool", "extra");
    installTool("home/7/tool", "extra");
    append("agent/coder.d/policy", "allow coder_t tool:extra execute");
    write("agent/coder.d/path", both);
    write("home/7/tool/extra.d/policy", "allow coder_t tool:* execute\n");
    const refused = firstRefusal(verdict(tool("extra")));
    expect(refused?.layer).toBe("path");
    expect(refused?.because).toContain("home/7/tool/extra.d/policy");
    const controls = loadAgent(tree, "coder");
    const names = visibleTools({ tree, agent: "coder", controls, server }).map((t) => t.tool.name);
    expect(names).not.toContain("extra");
    expect(names).toContain("fs.read");
  });
});

describe("models, spaces and agents", () => {
  const use = (name: string): Question => ({
    object: { class: "model", name },
    permission: "use",
  });

  test("a model is decided by the agent's policy, and by its own when it has one", () => {
    expect(verdict(use("debug/echo")).allowed).toBe(true);
    write("model/debug/echo.d/policy", "allow other_t model:debug/echo use\n");
    expect(refusedBy(use("debug/echo"))).toEqual(["EACCES", "object_policy"]);
    expect(refusedBy(use("debug/none"))).toEqual(["ENOENT", "path"]);
  });

  test("what must exist is ENOENT when it does not, a new agent need not", () => {
    const ask = (kind: "shared" | "agent" | "session", name: string, permission: string) =>
      refusedBy({ object: { class: kind, name }, permission });
    expect(ask("shared", "nowhere", "read")).toEqual(["ENOENT", "path"]);
    mkdirSync(at("shared/project-a"), { recursive: true });
    expect(ask("shared", "project-a", "read")).toEqual(["EACCES", "agent_policy"]);
    expect(ask("agent", "review-1", "start")).toEqual(["ENOENT", "path"]);
    expect(ask("agent", "review-1", "create")).toEqual(["EACCES", "agent_policy"]);
    expect(ask("agent", "reviewer", "start")).toEqual(["EACCES", "agent_policy"]);
    expect(ask("session", "default", "read")).toEqual(["EACCES", "agent_policy"]);
  });

  test("the network is closed without its line", () => {
    const connect: Question = {
      object: { class: "network", name: "default" },
      permission: "connect",
    };
    write("agent/coder.d/policy", "");
    expect(refusedBy(connect)).toEqual(["EACCES", "agent_policy"]);
    append("agent/coder.d/policy", "allow coder_t network:default connect");
    expect(verdict(connect).allowed).toBe(true);
  });
});

test("deciding creates nothing in the tree", () => {
  const before = Bun.spawnSync(["find", tree.source, "-printf", "%p %T@ %C@\n"]).stdout.toString();
  expect(before.split("\n").length).toBeGreaterThan(50);
  for (const agent of ["coder", "architect", "reviewer"]) {
    visibleTools({ tree, agent, controls: loadAgent(tree, agent), server });
    verdict(tool("none"), agent);
  }
  const after = Bun.spawnSync(["find", tree.source, "-printf", "%p %T@ %C@\n"]).stdout.toString();
  expect(after).toBe(before);
  renameSync(at("tool"), at("moved"));
  expect(refusedBy(tool("fs.read"))).toEqual(["ENOENT", "path"]);
});
