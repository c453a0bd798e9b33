import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { differing, isRoot, snapshot, TestTree } from "../../testdata/tree/test-tree.ts";
import { planTree } from "./bootstrap-plan.ts";
import { recordPath } from "./bootstrap-record.ts";
import { toolsOnHost } from "./builtin-tools.ts";
import { treeOwner } from "./mod.ts";
import { hostPrograms } from "./programs.ts";

// Every tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let tree: TestTree;
beforeEach(() => {
  tree = new TestTree();
});
afterEach(() => tree.destroy());

const read = (path: string) => readFileSync(tree.path(path), "utf8");
const write = (path: string, text: string) => writeFileSync(tree.path(path), text);

describe("bootstrap", () => {
  test("makes a tree whose root has exactly the seven entries", () => {
    const report = tree.bootstrap();
    expect(report.changed).toBe(true);
    expect(new Set(report.entries.map(({ action }) => action))).toEqual(new Set(["create"]));
    expect(readdirSync(tree.source).sort()).toEqual(
      ["agent", "bin", "home", "model", "shared", "status", "tool"].sort(),
    );
  });

  test("run again finds everything the same and writes nothing", () => {
    tree.bootstrap();
    const before = snapshot(tree.source);
    const inode = statSync(tree.path(recordPath)).ino;
    const again = tree.bootstrap();
    expect([again.changed, differing(again)]).toEqual([false, {}]);
    expect(again.entries.length).toBeGreaterThan(200);
    expect(snapshot(tree.source)).toEqual(before);
    expect(statSync(tree.path(recordPath)).ino).toBe(inode);
  });

  test("gives agents and home to the owner and keeps the rest", () => {
    tree.bootstrap();
    const { uid, gid } = tree.owner;
    const owned = ["agent", "agent/coder", "agent/coder.d/policy", "agent/coder.d/hooks/pre.d"];
    const homes = [`home/${uid}`, `home/${uid}/agent/coder/session/index`];
    for (const path of [...owned, ...homes]) {
      const facts = statSync(tree.path(path));
      expect([path, facts.uid, facts.gid]).toEqual([path, uid, gid]);
    }
    const mine = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    for (const path of ["bin", "tool/fs.read", "tool/fs.read.d/policy", "model/debug", "home"]) {
      const facts = statSync(tree.path(path));
      expect([path, facts.uid, facts.gid]).toEqual([path, mine.uid, mine.gid]);
    }
    const modes = ["agent", "agent/coder", "agent/coder.d/perm", `home/${uid}`].map(
      (path) => statSync(tree.path(path)).mode & 0o7777,
    );
    expect(modes).toEqual([0o755, 0o755, 0o644, 0o700]);
    if (!isRoot) console.log("SKIP a foreign owner: giving files away needs root");
  });

  test("does not depend on the umask", () => {
    tree.bootstrap();
    const usual = snapshot(tree.source);
    const other = new TestTree();
    const before = process.umask(0o077);
    try {
      other.bootstrap();
    } finally {
      process.umask(before);
    }
    const strict = snapshot(other.source);
    const mode = statSync(other.source).mode & 0o777;
    other.destroy();
    usual.delete(recordPath);
    strict.delete(recordPath);
    expect(strict).toEqual(usual);
    expect(mode).toBe(0o755);
  });

  test("makes objects that the kernel starts through the tree's own ctx", () => {
    tree.bootstrap();
    const run = Bun.spawnSync([tree.path("tool/fs.read"), "x"]);
    expect(run.stdout.toString()).toBe(`ctx exec ${tree.path("tool/fs.read")} x\n`);
    expect(read("agent/coder").split("\n").slice(0, 3)).toEqual([
      `#!${tree.source}/bin/ctx exec`,
      "# class: agent",
      "# name: coder",
    ]);
  });

  test("with check reports the same and writes nothing, not even the tree's folder", () => {
    const planned = tree.bootstrap({ check: true });
    expect(existsSync(tree.source)).toBe(false);
    const made = tree.bootstrap();
    expect(planned).toEqual(made);

    unlinkSync(tree.path("tool/tsh"));
    write("shared/cortexfs-docs/README.md", "old\n");
    const before = snapshot(tree.source);
    expect(differing(tree.bootstrap({ check: true }))).toEqual({
      "tool/tsh": "create",
      "shared/cortexfs-docs/README.md": "update",
    });
    expect(snapshot(tree.source)).toEqual(before);
  });

  test("says whom a tree belongs to", () => {
    expect(treeOwner(tree.source)).toBeUndefined();
    tree.bootstrap();
    expect(treeOwner(tree.source)).toEqual(tree.owner);
  });
});

describe("bootstrap of a tree that is there", () => {
  beforeEach(() => void tree.bootstrap());

  test("keeps what a person edited, for good", () => {
    const edited = `${read("agent/coder.d/policy")}allow coder_t network:default connect\n`;
    write("agent/coder.d/policy", edited);
    for (let run = 0; run < 2; run += 1) {
      expect(differing(tree.bootstrap())).toEqual({ "agent/coder.d/policy": "keep" });
      expect(read("agent/coder.d/policy")).toBe(edited);
    }
  });

  test("updates what an older version wrote and nobody touched", () => {
    const record = JSON.parse(read(recordPath));
    write("tool/fs.read.d/description", "older text\n");
    record.managed["tool/fs.read.d/description"] = new Bun.CryptoHasher("sha256")
      .update("older text\n")
      .digest("hex");
    write(recordPath, JSON.stringify(record));
    chmodSync(tree.path("tool/fs.read.d/description"), 0o600);
    expect(differing(tree.bootstrap())).toEqual({ "tool/fs.read.d/description": "update" });
    expect(read("tool/fs.read.d/description")).toContain("Read a text file");
    expect(statSync(tree.path("tool/fs.read.d/description")).mode & 0o777).toBe(0o600);
    expect(differing(tree.bootstrap())).toEqual({});
  });

  test("keeps an alias that was pointed elsewhere, and a tool that was switched off", () => {
    unlinkSync(tree.path("model/main"));
    symlinkSync("debug/script", tree.path("model/main"));
    chmodSync(tree.path("tool/shell.exec"), 0o644);
    expect(differing(tree.bootstrap())).toEqual({ "model/main": "keep" });
    expect(readlinkSync(tree.path("model/main"))).toBe("debug/script");
    expect(statSync(tree.path("tool/shell.exec")).mode & 0o777).toBe(0o644);
  });

  test("heals a stale or missing manual", () => {
    write("shared/cortexfs-docs/man/ctx.tool.md", "stale");
    unlinkSync(tree.path("shared/cortexfs-docs/man/ctx.agent.md"));
    expect(differing(tree.bootstrap())).toEqual({
      "shared/cortexfs-docs/man/ctx.agent.md": "create",
      "shared/cortexfs-docs/man/ctx.tool.md": "update",
    });
    expect(read("shared/cortexfs-docs/man/ctx.tool.md").length).toBeGreaterThan(1000);
  });

  test("leaves sessions, logs and states alone", () => {
    const session = `home/${tree.owner.uid}/agent/coder/session/default`;
    mkdirSync(tree.path(session));
    write(`${session}/events.jsonl`, "history\n");
    write("tool/fs.read.d/log", "logged\n");
    write("agent/coder.d/status", "busy\n");
    expect(tree.bootstrap().changed).toBe(false);
    expect(read(`${session}/events.jsonl`)).toBe("history\n");
    expect([read("tool/fs.read.d/log"), read("agent/coder.d/status")]).toEqual([
      "logged\n",
      "busy\n",
    ]);
  });

  test("rewrites the first lines when the tree was moved", () => {
    const moved = join(tree.base, "moved");
    renameSync(tree.source, moved);
    const updated = Object.entries(differing(tree.bootstrap({ source: moved })));
    // The agents, the models, and the tools that this host has.
    expect(updated.length).toBe(5 + toolsOnHost(hostPrograms()).length);
    expect(new Set(updated.map(([, action]) => action))).toEqual(new Set(["update"]));
    expect(readFileSync(join(moved, "tool/tsh"), "utf8")).toStartWith(`#!${moved}/bin/ctx exec\n`);
  });

  test("replaces a program only when its content differs", () => {
    const before = statSync(tree.path("bin/ctx")).ino;
    const copy = readFileSync(join(tree.binaries, "ctx"));
    unlinkSync(join(tree.binaries, "ctx"));
    writeFileSync(join(tree.binaries, "ctx"), copy, { mode: 0o755 });
    expect(differing(tree.bootstrap())).toEqual({});
    expect(statSync(tree.path("bin/ctx")).ino).toBe(before);

    unlinkSync(join(tree.binaries, "ctx"));
    tree.program("ctx", `echo CTX "$@"`);
    expect(differing(tree.bootstrap())).toEqual({ "bin/ctx": "update" });
    expect(Bun.spawnSync([tree.path("bin/ctx")]).stdout.toString()).toBe("CTX\n");
  });

  test("can be run with the tree's own programs", () => {
    const { entries } = tree.bootstrap();
    const own = tree.bootstrap({ binaries: tree.path("bin") });
    expect(own.entries.map(({ path }) => path)).toEqual(entries.map(({ path }) => path));
    expect(differing(own)).toEqual({});
  });
});

test("every path of the plan is there once, below a folder that comes before it", () => {
  const input = { source: "/s", owner: { uid: 1, gid: 1 }, groups: [] };
  const entries = planTree({ ...input, programs: ["tmux"] });
  const paths = entries.map(({ path }) => path);
  expect(paths.filter((path) => /^tool\/(bash|tmux|zellij)$/.test(path))).toEqual(["tool/tmux"]);
  const seen = new Set(["."]);
  for (const { path } of entries) {
    const parent = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".";
    expect([path, seen.has(path), seen.has(parent)]).toEqual([path, false, true]);
    seen.add(path);
  }
  expect(seen.size).toBeGreaterThan(200);
});
