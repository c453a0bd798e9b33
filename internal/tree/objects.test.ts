import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import fc from "fast-check";
import { controlBytesMax } from "../abi/mod.ts";
import { agentControls, modelControls, toolControls } from "../control/mod.ts";
import {
  agentNames,
  agentText,
  builtinTools,
  isModelAgent,
  loadAgent,
  loadModel,
  loadTool,
  modelAliases,
  modelNames,
  openTree,
  readControl,
  resolveAlias,
  servedTools,
  type Tree,
  toolNames,
  viewToSource,
  writeControl,
} from "./mod.ts";
import { isRoot, refusal, TestTree } from "./testing.ts";

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

/** Puts bytes in place of a file for the time of `work`. */
function having<T>(path: string, content: string | Uint8Array | undefined, work: () => T): T {
  const before = readFileSync(at(path));
  if (content === undefined) unlinkSync(at(path));
  else writeFileSync(at(path), content);
  try {
    return work();
  } finally {
    writeFileSync(at(path), before);
  }
}

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
    expect(toolNames(tree, "/ctx/tool")).toEqual(servedTools.map(({ name }) => name).sort());
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

describe("the bootstrapped agents", () => {
  test("load whole: coder", () => {
    const { uid, gid } = made.owner;
    const { policy, ...rest } = loadAgent(tree, "coder");
    expect(rest).toEqual({
      owner: uid,
      uid,
      gid,
      groups: [61200, 61201],
      perm: { read: true, write: true, execute: true },
      label: { text: "user_u:agent_r:coder_t:s0", type: "coder_t" },
      iso: "shared",
      parent: undefined,
      life: "owned",
      root: "/",
      cwd: "/workspace",
      env: new Map(),
      path: ["/ctx/tool", `/ctx/home/${uid}/tool`],
      mount: [],
      model: [{ kind: "alias", name: "main" }],
      window: "auto",
      tools: ["fs.read", "fs.list", "fs.stat", "fs.write", "fs.replace", "shell.exec"],
      abi: "sdk-envelope-v1",
      approval: "auto",
    });
    expect(policy.lines.length).toBe(9);
    expect(agentText(tree, "coder", "system.md")).toContain("software engineer");
    expect(agentText(tree, "coder", "prompt.template.md")).toContain("{{agent_instructions}}");
    expect(isModelAgent(tree, "coder")).toBe(true);
  });

  test("have the least that their work needs, in both policies alike", () => {
    const rights = agentNames(tree).map((name) => {
      const { label, perm, policy, tools } = loadAgent(tree, name);
      const may = toolNames(tree, "/ctx/tool").filter((tool) => {
        const object = { class: "tool", name: tool } as const;
        const own = policy.find(label.type, object, "execute") !== undefined;
        const other = loadTool(tree, "/ctx/tool", tool).policy?.find(label.type, object, "execute");
        expect([name, tool, other !== undefined]).toEqual([name, tool, own]);
        return own;
      });
      expect(new Set(may)).toEqual(new Set(["tsh", ...tools]));
      for (const model of ["debug/echo", "debug/script"]) {
        expect(policy.find(label.type, { class: "model", name: model }, "use")).toBeDefined();
      }
      const classes = new Set(policy.lines.map(({ object }) => object.class));
      expect(classes).toEqual(new Set(["tool", "model"] as const));
      return [name, perm, may];
    });
    const readOnly = { read: true, write: false, execute: false };
    const reading = ["fs.list", "fs.read", "fs.stat", "tsh"];
    expect(rights).toEqual([
      ["architect", readOnly, reading],
      [
        "coder",
        { read: true, write: true, execute: true },
        ["fs.list", "fs.read", "fs.replace", "fs.stat", "fs.write", "shell.exec", "tsh"],
      ],
      ["reviewer", readOnly, reading],
    ]);
  });

  test("have every control valid by its own grammar", () => {
    const tables = { agent: agentControls, tool: toolControls, model: modelControls };
    let seen = 0;
    for (const [kind, folder] of [
      ["agent", "agent/coder.d"],
      ["agent", "agent/architect.d"],
      ["tool", "tool/shell.exec.d"],
      ["model", "model/debug/script.d"],
    ] as const) {
      for (const [name, row] of Object.entries(tables[kind])) {
        if (!statSync(at(`${folder}/${name}`), { throwIfNoEntry: false })) {
          expect([folder, name, row.required]).toEqual([folder, name, false]);
          continue;
        }
        const parsed = row.parse(readControl(tree, `${folder}/${name}`));
        expect([folder, name, parsed.ok]).toEqual([folder, name, true]);
        seen += 1;
      }
    }
    expect(seen).toBeGreaterThan(60);
  });
});

describe("loadAgent()", () => {
  const load = () => loadAgent(tree, "coder");

  test("says file, line and column of a malformed control", () => {
    const cases: [string, string | Uint8Array, number, number][] = [
      ["perm", "rwz\n", 1, 3],
      ["groups", "7\nx\n", 2, 1],
      ["policy", "# fine\nallow coder_t tool:* execute\n", 2, 20],
      ["env", "A=1\nCTX_ROOT=/\n", 2, 1],
      ["cwd", "/workspace", 1, 11],
      ["path", new Uint8Array([0x2f, 0x61, 0x0a, 0x2f, 0xc3, 0x28, 0x0a]), 2, 2],
    ];
    for (const [control, text, line, column] of cases) {
      const error = having(`agent/coder.d/${control}`, text, () => refusal(load));
      expect([control, error.code, error.place]).toEqual([
        control,
        "EINVAL",
        { file: `agent/coder.d/${control}`, line, column },
      ]);
      expect(error.message).toStartWith(
        `"agent/coder.d/${control}" line ${line}, column ${column}`,
      );
    }
  });

  test("gives an absent optional control its default, and refuses without a required one", () => {
    for (const [control, row] of Object.entries(agentControls)) {
      const path = `agent/coder.d/${control}`;
      if (row.runtimeOwned || !statSync(at(path), { throwIfNoEntry: false })) continue;
      const result = having(path, undefined, () => {
        if (!row.required) return load();
        const error = refusal(load);
        expect([control, error.code, error.message.includes(`"${control}"`)]).toEqual([
          control,
          "ENOENT",
          true,
        ]);
        return undefined;
      });
      if (result && control === "uid") expect(result.uid).toBe(made.owner.uid);
      if (result && control === "tools") expect(result.tools).toEqual([]);
      if (result && control === "iso") expect(result.iso).toBe("userns");
    }
    expect(load().approval).toBe("auto");
  });

  test("refuses names, what is absent, and a control that is a symlink or too large", () => {
    for (const name of ["", "..", "a/b", "coder.d", "a\nb", "x".repeat(65)]) {
      expect([name, refusal(() => loadAgent(tree, name)).code]).toEqual([name, "EINVAL"]);
    }
    expect(refusal(() => loadAgent(tree, "nobody")).code).toBe("ENOENT");
    const huge = `${"#".repeat(controlBytesMax)}\n`;
    expect(having("agent/coder.d/policy", huge, () => refusal(load)).code).toBe("EMSGSIZE");

    rmSync(at("agent/coder.d/perm"));
    symlinkSync("../architect.d/perm", at("agent/coder.d/perm"));
    const error = refusal(load);
    rmSync(at("agent/coder.d/perm"));
    writeFileSync(at("agent/coder.d/perm"), "rwx\n");
    expect([error.code, error.message.includes("symlink")]).toEqual(["EACCES", true]);
  });
});

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
    expect(refusal(() => load("tsh.config")).code).toBe("ENOENT");
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
});

describe("models", () => {
  test("load with what an adapter needs", () => {
    const ref = { provider: "debug", model: "script" };
    expect(loadModel(tree, ref)).toEqual({
      ref,
      id: "script",
      driver: "debug.script",
      cap: ["chat", "stream", "tool_call_syntax", "reasoning"],
      limit: undefined,
      effort: "auto",
      fallback: [],
      parameters: {},
      policy: undefined,
      policyFile: "model/debug/script.d/policy",
    });
    const absent = refusal(() => loadModel(tree, { provider: "debug", model: "none" }));
    expect(absent.code).toBe("ENOENT");
    having("model/debug/script.d/limit", "-1\n", () => {
      expect(refusal(() => loadModel(tree, ref)).place?.file).toBe("model/debug/script.d/limit");
    });
  });

  test("are reached by alias, through two links at most, never out of model/", () => {
    expect(resolveAlias(tree, "main")).toEqual({ provider: "debug", model: "echo" });
    expect(resolveAlias(tree, "helper")).toEqual({ provider: "debug", model: "echo" });
    const cases: [string, string][] = [
      ["debug/later", "ok"],
      ["/etc/passwd", "EACCES"],
      ["../agent/coder", "EACCES"],
      ["debug/../../x", "EACCES"],
      ["helper", "EINVAL"],
      ["loop", "EINVAL"],
      ["gone", "ENOENT"],
      ["debug", "EINVAL"],
    ];
    for (const [target, code] of cases) {
      symlinkSync(target, at("model/loop"));
      try {
        const got =
          code === "ok"
            ? resolveAlias(tree, "loop").model
            : refusal(() => resolveAlias(tree, "loop")).code;
        expect([target, got]).toEqual([target, code === "ok" ? "later" : code]);
      } finally {
        rmSync(at("model/loop"));
      }
    }
    expect(refusal(() => resolveAlias(tree, "none")).code).toBe("ENOENT");
    expect(refusal(() => resolveAlias(tree, "a/b")).code).toBe("EINVAL");
  });
});

describe("writeControl()", () => {
  test("replaces a valid value and keeps owner and mode", () => {
    chmodSync(at("agent/coder.d/perm"), 0o640);
    if (isRoot) chownSync(at("agent/coder.d/perm"), 61184, 61999);
    writeControl(tree, "agent/coder.d/perm", "r-x\n");
    const facts = statSync(at("agent/coder.d/perm"));
    expect(readControl(tree, "agent/coder.d/perm")).toBe("r-x\n");
    expect(facts.mode & 0o777).toBe(0o640);
    if (isRoot) expect([facts.uid, facts.gid]).toEqual([61184, 61999]);
    expect(readdirSync(at("agent/coder.d")).filter((name) => name.startsWith("."))).toEqual([]);
    writeControl(tree, "agent/coder.d/perm", "rwx\n");
  });

  test("makes an absent optional control for the folder's owner", () => {
    writeControl(tree, "agent/coder.d/approval", "ask\n");
    expect(loadAgent(tree, "coder").approval).toBe("ask");
    const facts = statSync(at("agent/coder.d/approval"));
    const { uid, gid } = made.owner;
    expect([facts.uid, facts.gid, facts.mode & 0o777]).toEqual([uid, gid, 0o644]);
    rmSync(at("agent/coder.d/approval"));
  });

  test("refuses a wrong value with its place and leaves the old one", () => {
    const before = readFileSync(at("agent/coder.d/policy"));
    const error = refusal(() =>
      writeControl(tree, "agent/coder.d/policy", "allow coder_t tool:fs.read fly\n"),
    );
    expect([error.code, error.place?.line]).toEqual(["EINVAL", 1]);
    expect(refusal(() => writeControl(tree, "agent/coder.d/shared", "x\n")).code).toBe("EINVAL");
    const huge = `${"#".repeat(controlBytesMax)}\n`;
    expect(refusal(() => writeControl(tree, "agent/coder.d/policy", huge)).code).toBe("EMSGSIZE");
    expect(readFileSync(at("agent/coder.d/policy"))).toEqual(before);
  });

  test("refuses what the runtime owns with EROFS", () => {
    for (const path of [
      "agent/coder.d/status",
      "agent/coder.d/pid",
      "agent/coder.d/log",
      "agent/coder.d/meta.json",
      "model/debug/echo.d/limit",
      "tool/fs.read.d/log",
    ]) {
      expect([path, refusal(() => writeControl(tree, path, "idle\n")).code]).toEqual([
        path,
        "EROFS",
      ]);
    }
  });

  test("refuses paths that are no control, and symlinks", () => {
    for (const path of [
      "",
      "/etc/passwd",
      "../x",
      "agent/../agent/coder.d/perm",
      "agent/coder.d/./perm",
      "agent/coder",
      "agent/coder/perm",
      "agent/coder.d/hooks/perm",
      "agent/.d/perm",
      "status",
      "bin/ctx",
      "home/1/agent/coder.d/perm",
      "model/main.d/limit",
      "agent/coder.d/perm\0x",
    ]) {
      expect([path, refusal(() => writeControl(tree, path, "rwx\n")).code]).toEqual([
        path,
        "EINVAL",
      ]);
    }
    expect(refusal(() => writeControl(tree, "agent/nobody.d/perm", "rwx\n")).code).toBe("ENOENT");
    mkdirSync(`${made.base}/out`);
    writeFileSync(`${made.base}/out/perm`, "---\n");
    symlinkSync(`${made.base}/out`, at("agent/evil.d"));
    symlinkSync(`${made.base}/out/perm`, at("agent/reviewer.d/approval"));
    expect(refusal(() => writeControl(tree, "agent/evil.d/perm", "rwx\n")).code).toBe("EACCES");
    expect(refusal(() => writeControl(tree, "agent/reviewer.d/approval", "ask\n")).code).toBe(
      "EACCES",
    );
    rmSync(at("agent/evil.d"));
    rmSync(at("agent/reviewer.d/approval"));
    expect(readFileSync(`${made.base}/out/perm`, "utf8")).toBe("---\n");
  });
});

test("readControl() leads nowhere but into the tree, whatever the path", () => {
  const part = fc.constantFrom(
    "..",
    ".",
    "",
    "agent",
    "coder.d",
    "perm",
    "etc",
    "passwd",
    "\0",
    "/",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const path = parts.join("/");
      try {
        expect([path, readControl(tree, path)]).toEqual(["agent/coder.d/perm", "rwx\n"]);
      } catch (error) {
        expect(["EINVAL", "ENOENT"]).toContain((error as { code: string }).code);
      }
    }),
  );
});
