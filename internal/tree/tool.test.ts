import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { settle } from "../../testdata/tree/settle.ts";
import { refusal, TestTree } from "../../testdata/tree/test-tree.ts";
import { controlBytesMax } from "../abi/mod.ts";
import { toolControls } from "../control/mod.ts";
import { builtinTools, loadTool, type Tree } from "./mod.ts";

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

const having: TestTree["having"] = (...args) => made.having(...args);

describe("loadTool()", () => {
  const load = (name = "fs.read") => loadTool(tree, "/ctx/tool", name);

  test("gives what a call needs", () => {
    expect(load()).toMatchObject({
      name: "fs.read",
      viewPath: "/ctx/tool/fs.read",
      hostPath: `${made.source}/tool/fs.read`,
      builtin: true,
      cap: ["read"],
      policyFile: "tool/fs.read.d/policy",
    });
    expect(load().schema).toEqual(builtinTools[0]?.schema ?? {});
  });

  test("is unavailable with any control malformed, the unused ones too", () => {
    const extra: [string, string][] = [
      ["program", "[]\n"],
      ["mcp", "transport=http\n"],
    ];
    const usual: [string, string][] = [
      ["name", "fs.write\n"],
      ["description", "\n"],
      ["schema", '{"type":"string"}\n'],
      ["schema", "{\n"],
      ["cap", "fly\n"],
      ["policy", "deny x_t tool:y execute\n"],
    ];
    for (const [control, text] of usual) {
      const error = having(`tool/fs.read.d/${control}`, text, () => refusal(() => load()));
      expect([control, error.code, error.place?.file]).toEqual([
        control,
        "EINVAL",
        `tool/fs.read.d/${control}`,
      ]);
    }
    for (const [control, text] of extra) {
      writeFileSync(at(`tool/fs.read.d/${control}`), text);
      const error = refusal(() => load());
      rmSync(at(`tool/fs.read.d/${control}`));
      expect([control, error.code, error.place?.file]).toEqual([
        control,
        "EINVAL",
        `tool/fs.read.d/${control}`,
      ]);
    }
  });

  test("without a policy has none, without a schema is unavailable", () => {
    having("tool/fs.read.d/policy", undefined, () => expect(load().policy).toBeUndefined());
    having("tool/fs.read.d/schema", undefined, () => {
      expect(refusal(() => load()).code).toBe("EINVAL");
    });
  });

  test("takes a program of the same kind of name for no built-in", () => {
    const home = `home/${made.owner.uid}/tool`;
    mkdirSync(at(`${home}/mine.d`));
    for (const [name, text] of [
      ["name", "mine\n"],
      ["description", "Mine\n"],
      ["schema", '{"type":"object"}\n'],
    ] as const) {
      writeFileSync(at(`${home}/mine.d/${name}`), text);
    }
    const own = () => loadTool(tree, `/ctx/${home}`, "mine");
    writeFileSync(at(`${home}/mine`), `#!${made.source}/bin/ctx exec\n`, { mode: 0o755 });
    expect(own().builtin).toBe(false);
    writeFileSync(at(`${home}/mine`), new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0xff]));
    expect([own().builtin, own().viewPath]).toEqual([false, `/ctx/${home}/mine`]);
    having("tool/fs.read", "#!/usr/bin/env ctx exec\n", () => expect(load().builtin).toBe(false));
    having("tool/fs.read", "#!/ctx/bin/ctx exec\n# x\n", () => expect(load().builtin).toBe(true));
  });

  test("counts only an executable regular file below /ctx", () => {
    expect(refusal(() => load("none")).code).toBe("ENOENT");
    expect(refusal(() => load("agent.create")).code).toBe("ENOENT");
    expect(refusal(() => load("../agent/coder")).code).toBe("EINVAL");
    expect(refusal(() => loadTool(tree, "/usr/bin", "ls")).code).toBe("EINVAL");
    expect(refusal(() => loadTool(tree, "/ctx/absent", "fs.read")).code).toBe("ENOENT");
    chmodSync(at("tool/fs.stat"), 0o644);
    expect(refusal(() => load("fs.stat")).code).toBe("EACCES");
    chmodSync(at("tool/fs.stat"), 0o755);
    symlinkSync("fs.read", at("tool/linked"));
    expect(refusal(() => load("linked")).code).toBe("EACCES");
    rmSync(at("tool/linked"));
  });

  test("is kept while nothing of it changes, and sees each control and the object change", async () => {
    const huge = `${"#".repeat(controlBytesMax)}\n`;
    // What the runtime writes is no part of a tool, and what a shell is set to is read by the shell.
    const others = ["config", "status", "log"];
    for (const control of Object.keys(toolControls)) {
      if (others.includes(control)) continue;
      const path = at(`tool/fs.read.d/${control}`);
      const before = statSync(path, { throwIfNoEntry: false }) && readFileSync(path, "utf8");
      await settle();
      const kept = load();
      expect([control, load() === kept]).toEqual([control, true]);
      writeFileSync(path, huge);
      expect([control, refusal(() => load()).code]).toEqual([control, "EMSGSIZE"]);
      if (before === undefined) rmSync(path);
      else writeFileSync(path, before);
      expect([control, JSON.stringify(load())]).toEqual([control, JSON.stringify(kept)]);
    }
    await settle();
    expect(load()).toBe(load());
    chmodSync(at("tool/fs.read"), 0o644);
    expect(refusal(() => load()).code).toBe("EACCES");
    chmodSync(at("tool/fs.read"), 0o755);
    await settle();
    expect(load()).toBe(load());
    rmSync(at("tool/fs.read.d/policy"));
    expect(load().policy).toBeUndefined();
  });
});
