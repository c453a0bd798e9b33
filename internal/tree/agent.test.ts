import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { settle } from "../../testdata/tree/settle.ts";
import { refusal, TestTree } from "../../testdata/tree/test-tree.ts";
import { type Code, controlBytesMax } from "../abi/mod.ts";
import { agentControls, modelControls, toolControls } from "../control/mod.ts";
import {
  agentNames,
  agentText,
  isModelAgent,
  loadAgent,
  loadTool,
  readControl,
  type Tree,
  toolNames,
} from "./mod.ts";

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

  /** Ready for agents whose person adds the line to their policy: nobody needs it for a task. */
  const onRequest = ["agent.update"];
  /** The same for the one that may write and run programs. */
  const ofCoder = ["bash", "tmux", "zellij", "tsh.config"];

  test("have the least that their work needs, in both policies alike", () => {
    const rights = agentNames(tree).map((name) => {
      const { label, perm, policy, tools } = loadAgent(tree, name);
      const may = toolNames(tree, "/ctx/tool").filter((tool) => {
        const object = { class: "tool", name: tool } as const;
        const own = policy.find(label.type, object, "execute") !== undefined;
        const other = loadTool(tree, "/ctx/tool", tool).policy?.find(label.type, object, "execute");
        const asked = onRequest.includes(tool) || (name === "coder" && ofCoder.includes(tool));
        const ready = own || asked;
        expect([name, tool, other !== undefined]).toEqual([name, tool, ready]);
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

  test("is kept while nothing of it changes, and sees each control that comes, changes or goes", async () => {
    const huge = `${"#".repeat(controlBytesMax)}\n`;
    for (const [control, { runtimeOwned }] of Object.entries(agentControls)) {
      if (runtimeOwned || control.endsWith(".md")) continue;
      const path = at(`agent/coder.d/${control}`);
      const before = statSync(path, { throwIfNoEntry: false }) && readFileSync(path, "utf8");
      await settle();
      const kept = load();
      writeFileSync(at("agent/coder.d/system.md"), `Not ${control}.\n`);
      expect([control, load() === kept]).toEqual([control, true]);
      writeFileSync(path, huge);
      expect([control, refusal(load).code]).toEqual([control, "EMSGSIZE"]);
      if (before === undefined) rmSync(path);
      else writeFileSync(path, before);
      expect([control, JSON.stringify(load())]).toEqual([control, JSON.stringify(kept)]);
    }
  });

  test("is refused at once when its executable or its folder is not what it was", async () => {
    const refusals: [string, () => void, () => void][] = [
      [
        "EACCES",
        () => chmodSync(at("agent/coder"), 0o644),
        () => chmodSync(at("agent/coder"), 0o755),
      ],
      [
        "EACCES",
        () => {
          renameSync(at("agent/coder.d"), at("agent/moved.d"));
          symlinkSync("moved.d", at("agent/coder.d"));
        },
        () => rmSync(at("agent/coder.d")),
      ],
      ["ENOENT", () => undefined, () => renameSync(at("agent/moved.d"), at("agent/coder.d"))],
    ];
    for (const [code, change, back] of refusals) {
      if (code === "EACCES") {
        await settle();
        expect(load()).toBe(load());
      }
      change();
      expect(refusal(load).code).toBe(code as Code);
      back();
    }
    expect(load().approval).toBe("auto");
  });
});
