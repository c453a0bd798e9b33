import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import { refusal, TestTree } from "../../testdata/tree/test-tree.ts";
import { loadModel, resolveAlias, type Tree } from "./mod.ts";

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
