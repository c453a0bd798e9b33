import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { isRoot, refusal, TestTree } from "../../testdata/tree/test-tree.ts";
import { type UpdatableControl, updateContentBytesMax } from "../abi/mod.ts";
import { agentText, type Tree, updatePrompt } from "./mod.ts";

// Every tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let made: TestTree;
let tree: Tree;
beforeAll(() => {
  made = new TestTree();
  made.bootstrap();
  tree = made.open();
});
afterAll(() => {
  tree.close();
  made.destroy();
});

const at = (name: string) => made.path(`agent/coder.d/${name}`);
const snapshot = () =>
  readdirSync(at("."))
    .filter((name) => name !== "hooks")
    .map((name) => [name, readFileSync(at(name), "utf8"), statSync(at(name)).ino]);

describe("updatePrompt()", () => {
  test("replaces a prompt control whole, and its owner and mode stay", () => {
    for (const control of ["system.md", "prompt.template.md"] as const) {
      chmodSync(at(control), 0o640);
      if (isRoot) chownSync(at(control), 61184, 61999);
      const before = statSync(at(control));
      updatePrompt(tree, "coder", control, "Be careful.\n");
      const after = statSync(at(control));
      expect(readFileSync(at(control), "utf8")).toBe("Be careful.\n");
      expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode]);
      expect(after.ino).not.toBe(before.ino);
    }
    expect(readdirSync(at(".")).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("what was written is what the next prompt is made of", () => {
    updatePrompt(tree, "coder", "system.md", "Say so when you are unsure.");
    expect(agentText(tree, "coder", "system.md")).toBe("Say so when you are unsure.");
  });

  test("makes a control that is not there, for the folder's owner", () => {
    rmSync(at("prompt.template.md"));
    updatePrompt(tree, "coder", "prompt.template.md", "{{agent_instructions}}\n");
    const facts = statSync(at("prompt.template.md"));
    expect([facts.uid, facts.mode & 0o777]).toEqual([statSync(at(".")).uid, 0o644]);
  });

  test("takes 8 KiB of UTF-8 and nothing at all", () => {
    for (const content of ["x".repeat(8192), "\u00e9".repeat(4096), ""]) {
      updatePrompt(tree, "coder", "system.md", content);
      expect(readFileSync(at("system.md"), "utf8")).toBe(content);
    }
  });

  test("refuses every other control, a path, a NUL and more than 8 KiB, and writes nothing", () => {
    const before = snapshot();
    const long = "x".repeat(updateContentBytesMax + 1);
    for (const [control, content, code] of [
      ["policy", "allow coder_t tool:fs.write execute\n", "EINVAL"],
      ["perm", "rwx\n", "EINVAL"],
      ["../reviewer.d/system.md", "x", "EINVAL"],
      ["system.md/../policy", "x", "EINVAL"],
      ["hooks/pre.d/a", "x", "EINVAL"],
      ["system.md\0", "x", "EINVAL"],
      ["", "x", "EINVAL"],
      ["system.md", "a\0b", "EINVAL"],
      ["system.md", "a\ud800b", "EINVAL"],
      ["system.md", long, "EMSGSIZE"],
      ["system.md", `${"\u00e9".repeat(4096)}x`, "EMSGSIZE"],
    ] as const) {
      const update = () => updatePrompt(tree, "coder", control as UpdatableControl, content);
      expect([control, refusal(update).code]).toEqual([control, code]);
    }
    expect(snapshot()).toEqual(before);
  });

  test("follows no symlink and makes no agent", () => {
    const outside = made.path("outside");
    rmSync(at("system.md"));
    symlinkSync(outside, at("system.md"));
    expect(refusal(() => updatePrompt(tree, "coder", "system.md", "x")).code).toBe("EACCES");
    rmSync(at("system.md"));
    expect(refusal(() => updatePrompt(tree, "nobody", "system.md", "x")).code).toBe("ENOENT");
    expect(refusal(() => updatePrompt(tree, "../agent/coder", "system.md", "x")).code).toBe(
      "EINVAL",
    );
    updatePrompt(tree, "coder", "system.md", "x");
  });
});
