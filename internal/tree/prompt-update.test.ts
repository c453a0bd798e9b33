import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { isRoot, TestTree } from "../../testdata/tree/test-tree.ts";
import { type UpdatableControl, updateContentBytesMax } from "../abi/mod.ts";
import { agentText, stagePrompt, type Tree } from "./mod.ts";

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

async function updatePrompt(...given: Parameters<typeof stagePrompt>): Promise<void> {
  await (await stagePrompt(...given)).publish();
}

const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "it was written",
    (error: unknown) => (error as { code?: unknown }).code,
  );

describe("stagePrompt()", () => {
  test("replaces a prompt control whole, and its owner and mode stay", async () => {
    for (const control of ["system.md", "prompt.template.md"] as const) {
      chmodSync(at(control), 0o640);
      if (isRoot) chownSync(at(control), 61184, 61999);
      const before = statSync(at(control));
      await updatePrompt(tree, "coder", control, "Be careful.\n");
      const after = statSync(at(control));
      expect(readFileSync(at(control), "utf8")).toBe("Be careful.\n");
      expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode]);
      expect(after.ino).not.toBe(before.ino);
    }
    expect(readdirSync(at(".")).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("what was written is what the next prompt is made of", async () => {
    await updatePrompt(tree, "coder", "system.md", "Say so when you are unsure.");
    expect(agentText(tree, "coder", "system.md")).toBe("Say so when you are unsure.");
  });

  test("makes a control that is not there, for the folder's owner", async () => {
    rmSync(at("prompt.template.md"));
    await updatePrompt(tree, "coder", "prompt.template.md", "{{agent_instructions}}\n");
    const facts = statSync(at("prompt.template.md"));
    expect([facts.uid, facts.mode & 0o777]).toEqual([statSync(at(".")).uid, 0o644]);
  });

  test("takes 8 KiB of UTF-8 and nothing at all", async () => {
    for (const content of ["x".repeat(8192), "\u00e9".repeat(4096), ""]) {
      await updatePrompt(tree, "coder", "system.md", content);
      expect(readFileSync(at("system.md"), "utf8")).toBe(content);
    }
  });

  test("refuses every other control, a path, a NUL and more than 8 KiB, and writes nothing", async () => {
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
      const update = updatePrompt(tree, "coder", control as UpdatableControl, content);
      expect([control, await codeOf(update)]).toEqual([control, code]);
    }
    expect(snapshot()).toEqual(before);
  });

  test("follows no symlink and makes no agent", async () => {
    const outside = made.path("outside");
    rmSync(at("system.md"));
    symlinkSync(outside, at("system.md"));
    expect(await codeOf(updatePrompt(tree, "coder", "system.md", "x"))).toBe("EACCES");
    rmSync(at("system.md"));
    expect(await codeOf(updatePrompt(tree, "nobody", "system.md", "x"))).toBe("ENOENT");
    expect(await codeOf(updatePrompt(tree, "../agent/coder", "system.md", "x"))).toBe("EINVAL");
    await updatePrompt(tree, "coder", "system.md", "x");
  });

  test("replaces nothing before it is published, and leaves nothing when it is dropped", async () => {
    await updatePrompt(tree, "coder", "system.md", "Before.\n");
    const before = snapshot();
    const descriptors = readdirSync("/proc/self/fd").length;
    const staged = await stagePrompt(tree, "coder", "system.md", "After.\n");
    expect(readFileSync(at("system.md"), "utf8")).toBe("Before.\n");
    staged.drop();
    expect(snapshot()).toEqual(before);
    const other = await stagePrompt(tree, "coder", "system.md", "After.\n");
    rmSync(at("system.md"));
    mkdirSync(at("system.md"));
    expect(await codeOf(other.publish())).toBe("EINVAL");
    rmdirSync(at("system.md"));
    expect(readdirSync(at(".")).filter((name) => name.startsWith("."))).toEqual([]);
    expect(readdirSync("/proc/self/fd").length).toBe(descriptors);
    await updatePrompt(tree, "coder", "system.md", "Before.\n");
  });
});
