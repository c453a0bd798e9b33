import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fc from "fast-check";
import { isRoot, refusal, TestTree } from "../../testdata/tree/test-tree.ts";
import { controlBytesMax } from "../abi/mod.ts";
import { loadAgent, readControl, type Tree, writeControl } from "./mod.ts";

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
