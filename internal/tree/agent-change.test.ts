// Making an agent equal to a description, and adding one line to a list.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { refusal, snapshot, TestTree } from "../../testdata/tree/test-tree.ts";
import {
  appendControl,
  applyChange,
  loadAgent,
  type PlanContext,
  planChange,
  readAgentDescription,
  type Tree,
} from "./mod.ts";

setDefaultTimeout(60_000);

let made: TestTree;
let tree: Tree;
let context: PlanContext;
beforeEach(() => {
  made = new TestTree();
  made.bootstrap();
  tree = made.open();
  const { owner } = made;
  context = { tree, places: { config: made.base, uid: owner.uid }, owner, groups: [] };
});
afterEach(() => {
  tree.close();
  made.destroy();
});

function described(...lines: string[]) {
  const path = join(made.base, "coder.md");
  writeFileSync(path, `---\n${lines.join("\n")}\n---\n`);
  return readAgentDescription(path);
}

function apply(...lines: string[]): string[] {
  const description = described(...lines);
  const { changes } = planChange(context, "coder", description);
  applyChange(context, "coder", description, changes);
  return changes.map(({ what }) => what);
}

const text = (path: string) => readFileSync(made.path(path), "utf8");

describe("a description laid over an agent", () => {
  test("changes what it names, keeps the rest with owner and mode, and is done then", () => {
    const before = snapshot(made.source);
    expect(apply("perm: r-x", "description: Mine", "tools: [fs.read]")).toEqual([
      "perm",
      "tools",
      "description",
    ]);
    const after = snapshot(made.source);
    const changed = [...after].filter(([path, what]) => before.get(path) !== what);
    expect(changed.map(([path]) => path).sort()).toEqual([
      "agent/coder",
      "agent/coder.d/perm",
      "agent/coder.d/tools",
    ]);
    for (const [path, what] of changed) {
      const head = (line = "") => line.split(" ").slice(0, 2);
      expect(head(what)).toEqual(head(before.get(path)));
    }
    expect(text("agent/coder")).toContain("\n# description: Mine\n");
    expect(apply("perm: r-x", "description: Mine", "tools: [fs.read]")).toEqual([]);
  });

  test("writes nothing when anything is wrong: what it says, or what it keeps", () => {
    const unchanged = (lines: string[], code: string) => {
      const before = snapshot(made.source);
      expect(refusal(() => apply(...lines)).code).toBe(code as never);
      expect(snapshot(made.source)).toEqual(before);
    };
    unchanged(["perm: r-x", "tools: [no.tool]"], "ENOENT");
    unchanged(["perm: r-x", "window: 9000"], "EINVAL");
    unchanged(["perm: r-x", "status: idle"], "EINVAL");
    writeFileSync(made.path("agent/coder.d/cwd"), "not absolute\n");
    unchanged(["perm: r-x"], "EINVAL");
    expect(apply("perm: r-x", "cwd: /workspace")).toEqual(["perm", "cwd"]);
  });

  test("that was planned before somebody else changed the agent is not carried out", () => {
    const description = described("perm: r-x");
    const { changes } = planChange(context, "coder", description);
    writeFileSync(made.path("agent/coder.d/perm"), "---\n");
    expect(refusal(() => applyChange(context, "coder", description, changes)).code).toBe("busy");
    expect(text("agent/coder.d/perm")).toBe("---\n");
  });

  test("changes window and model together, whichever has to go first", () => {
    for (const [model, limit] of [
      ["echo", 1000],
      ["script", 50_000],
    ] as const) {
      writeFileSync(made.path(`model/debug/${model}.d/limit`), `${limit}\n`);
    }
    const names = ["window", "model"];
    expect(apply("model: debug/script", "window: 40000")).toEqual(["model", "window"]);
    expect(apply("model: debug/echo", "window: 900").sort()).toEqual(names.toSorted());
    expect(apply("model: debug/script", "window: 50000").sort()).toEqual(names.toSorted());
    expect(loadAgent(tree, "coder").window).toBe(50_000);
    expect(refusal(() => apply("model: debug/echo")).message).toContain("its maximum is 1000");
    expect(loadAgent(tree, "coder").model).toMatchObject([{ ref: { model: "script" } }]);
  });
});

describe("appendControl()", () => {
  const line = "allow helper_t tool:fs.read execute";
  const file = "tool/fs.read.d/policy";

  test("adds a line once, keeping what is there, owner and mode", () => {
    const before = text(file);
    const { uid, mode } = statSync(made.path(file));
    expect([appendControl(tree, file, line), appendControl(tree, file, line)]).toEqual([
      true,
      false,
    ]);
    expect(text(file)).toBe(`${before}${line}\n`);
    expect(statSync(made.path(file))).toMatchObject({ uid, mode });
  });

  test("makes an absent list, and refuses what is no list and what is not valid", () => {
    expect(appendControl(tree, "model/debug/echo.d/policy", "# none")).toBe(true);
    expect(text("model/debug/echo.d/policy")).toBe("# none\n");
    const code = (path: string, added: string) =>
      refusal(() => appendControl(tree, path, added)).code;
    expect(code("agent/coder.d/perm", "r--")).toBe("EINVAL");
    expect(code("agent/coder.d/system.md", "x")).toBe("EINVAL");
    expect(code("agent/coder.d/status", "idle")).toBe("EINVAL");
    expect(code("agent/none.d/tools", "fs.read")).toBe("ENOENT");
    expect(code(file, "a\nb")).toBe("EINVAL");
    expect(code(file, "deny all")).toBe("EINVAL");
    expect(code("../x/policy", "y")).toBe("EINVAL");
    writeFileSync(made.path(file), "# cut");
    expect(code(file, line)).toBe("EINVAL");
    expect(text(file)).toBe("# cut");
  });

  test("loses no line of twelve that are added at once", async () => {
    const script = `const { appendControl, openTree } =
        await import(${JSON.stringify(join(import.meta.dir, "mod.ts"))});
      const tree = openTree(${JSON.stringify(made.source)});
      for (const at of [1, 2, 3]) {
        appendControl(tree, "${file}", "allow a" + process.argv[1] + at + "_t tool:fs.read execute");
      }`;
    const children = [1, 2, 3, 4].map((one) =>
      Bun.spawn([process.execPath, "-e", script, String(one)], { stderr: "inherit" }),
    );
    expect(await Promise.all(children.map((one) => one.exited))).toEqual([0, 0, 0, 0]);
    expect(
      text(file)
        .match(/allow a\d\d_t/g)
        ?.toSorted(),
    ).toEqual([1, 2, 3, 4].flatMap((one) => [1, 2, 3].map((at) => `allow a${one}${at}_t`)));
  });
});
