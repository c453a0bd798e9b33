import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { refusal, TestTree } from "../../testdata/tree/test-tree.ts";
import { toolsOnHost } from "./builtin-tools.ts";
import {
  agentNames,
  loadAgent,
  loadTool,
  modelAliases,
  modelNames,
  openTree,
  readControl,
  resolveAlias,
  type Tree,
  toolNames,
  viewToSource,
} from "./mod.ts";
import { hostPrograms } from "./programs.ts";

// Every tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let made: TestTree;
let tree: Tree;
beforeAll(() => {
  made = new TestTree();
  made.bootstrap({ groups: [61200, 61201] });
  tree = made.open();
});
afterAll(() => {
  tree.close();
  made.destroy();
});

const at = (path: string) => made.path(path);

describe("openTree()", () => {
  test("refuses what is no tree, and says what to run", () => {
    const missing = refusal(() => openTree(`${made.base}/none`));
    expect([missing.code, missing.hint]).toEqual([
      "ENOENT",
      `run ctx bootstrap "${made.base}/none"`,
    ]);
    const other = refusal(() => openTree(made.binaries));
    expect([other.code, other.message.includes("not a tree")]).toEqual(["ENOENT", true]);
  });

  test("gives the canonical path, and closes once", () => {
    symlinkSync("current", `${made.base}/link`);
    const linked = openTree(`${made.base}/link/`);
    expect(linked.source).toBe(made.source);
    linked.close();
    linked.close();
    expect(agentNames(tree)).toEqual(["architect", "coder", "reviewer"]);
  });

  test("leaves no descriptor behind", () => {
    const count = () => readdirSync("/proc/self/fd").length;
    const before = count();
    for (let round = 0; round < 20; round += 1) {
      loadAgent(tree, "coder");
      loadTool(tree, "/ctx/tool", "fs.read");
      refusal(() => loadTool(tree, "/ctx/tool", "none"));
      refusal(() => readControl(tree, "model/main"));
      toolNames(tree, "/ctx/tool");
      modelNames(tree);
      resolveAlias(tree, "helper");
      openTree(made.source).close();
      refusal(() => openTree(made.binaries));
    }
    expect(count()).toBe(before);
  });
});

describe("names", () => {
  test("are those of executables, without sockets, folders and odd files", () => {
    writeFileSync(at("agent/plain"), "x", { mode: 0o644 });
    writeFileSync(at("agent/.hidden"), "x", { mode: 0o755 });
    writeFileSync(at("agent/coder.sock"), "x", { mode: 0o755 });
    symlinkSync("coder", at("agent/linked"));
    try {
      expect(agentNames(tree)).toEqual(["architect", "coder", "reviewer"]);
    } finally {
      for (const name of ["plain", ".hidden", "coder.sock", "linked"]) rmSync(at(`agent/${name}`));
    }
    expect(toolNames(tree, "/ctx/tool")).toEqual(
      toolsOnHost(hostPrograms())
        .map(({ name }) => name)
        .sort(),
    );
    expect(toolNames(tree, "/ctx/home/1/tool")).toEqual([]);
    expect(toolNames(tree, "/etc")).toEqual([]);
    expect(modelNames(tree)).toEqual(["debug/echo", "debug/script"]);
    expect(modelAliases(tree)).toEqual(["helper", "main"]);
  });

  test("of the view stay below /ctx", () => {
    expect(viewToSource("/ctx/tool/x")).toBe("tool/x");
    expect(viewToSource("/ctx/home/7/tool/")).toBe("home/7/tool");
    for (const path of [
      "/ctx",
      "/ctx/",
      "/ctxx/a",
      "tool/x",
      "/ctx/../etc",
      "/ctx/a//b",
      "/ctx/a/./b",
    ]) {
      expect(viewToSource(path)).toBeUndefined();
    }
  });
});
