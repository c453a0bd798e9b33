// Which paths of a repository are bound for a workspace. A path that the workspace names is followed
// only when the repository there names the workspace in turn.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gitBinds, gitEntries, newGitEntries } from "./git.ts";

let base = "";
let work = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync("/tmp/ctx-git-"));
  work = folder("work");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function folder(...parts: string[]): string {
  const path = join(base, ...parts);
  mkdirSync(path, { recursive: true });
  return path;
}

/** A repository `main` with a linked worktree at `work`; `back` is what its git folder names. */
function worktree(back = `${work}/.git`): { common: string; own: string } {
  const common = folder("main", ".git");
  const own = folder("main", ".git", "worktrees", "work");
  writeFileSync(join(common, "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(own, "commondir"), "../..\n");
  writeFileSync(join(own, "gitdir"), `${back}\n`);
  writeFileSync(join(work, ".git"), `gitdir: ${own}\n`);
  return { common, own };
}

const own = () => ({ host: `${work}/.git`, view: "/workspace/.git", access: "ro" as const });

describe("gitBinds()", () => {
  test("binds nothing where there is no .git", () => {
    expect(gitBinds(work, "/workspace")).toEqual([]);
  });

  test("binds a .git folder over itself", () => {
    folder("work", ".git");
    expect(gitBinds(work, "/workspace")).toEqual([own()]);
  });

  test("binds the .git of a folder right below too, a file as well as a folder", () => {
    folder("work", "one", ".git");
    folder("work", "two");
    writeFileSync(join(work, "two", ".git"), "gitdir: ../.git/modules/two\n");
    folder("work", "three", "deeper", ".git");
    expect(gitBinds(work, "/workspace").toSorted((a, b) => (a.view < b.view ? -1 : 1))).toEqual(
      ["one", "two"].map((name) => ({
        host: join(work, name, ".git"),
        view: `/workspace/${name}/.git`,
        access: "ro",
      })),
    );
  });

  test("passes over a folder that the agent cannot search, until it can", () => {
    folder("work", "closed", ".git");
    const agent = { uid: 61199, gid: 61199, groups: [] };
    const roots = [{ host: work, view: "/workspace", agent }];
    chmodSync(join(work, "closed"), 0o700);
    expect([gitBinds(work, "/workspace", agent), [...gitEntries(roots)]]).toEqual([[], []]);
    chmodSync(join(work, "closed"), 0o755);
    expect(gitBinds(work, "/workspace", agent)).toHaveLength(1);
    expect([...gitEntries(roots).keys()]).toEqual(["/workspace/closed/.git"]);
  });

  test("binds the target of a link inside the workspace", () => {
    const target = folder("work", "store");
    symlinkSync("store", join(work, ".git"));
    expect(gitBinds(work, "/workspace")).toEqual([
      { host: target, view: "/workspace/store", access: "ro" },
    ]);
  });

  test("binds nothing for a link that leads out, or nowhere", () => {
    symlinkSync(folder("private", ".git"), join(work, ".git"));
    expect(gitBinds(work, "/workspace")).toEqual([]);
    rmSync(join(work, ".git"));
    symlinkSync("nowhere", join(work, ".git"));
    expect(gitBinds(work, "/workspace")).toEqual([]);
  });

  test("binds the common folder of a linked worktree at its own path", () => {
    const { common } = worktree();
    expect(gitBinds(work, "/workspace")).toEqual([
      own(),
      { host: common, view: common, access: "ro" },
    ]);
  });

  test("binds a submodule's folder that names the workspace", () => {
    const module = folder("main", ".git", "modules", "part");
    writeFileSync(join(module, "config"), "[core]\n\tworktree = ../../../../work\n");
    writeFileSync(join(work, ".git"), `gitdir: ${module}\n`);
    expect(gitBinds(work, "/workspace")).toEqual([
      own(),
      { host: module, view: module, access: "ro" },
    ]);
  });

  const forged: readonly (readonly [string, () => void])[] = [
    ["a worktree of somebody else", () => worktree(join(folder("other"), ".git"))],
    [
      "a folder that is no repository",
      () => {
        writeFileSync(join(work, ".git"), `gitdir: ${folder("keys")}\n`);
      },
    ],
    [
      "a parent of the workspace",
      () => {
        writeFileSync(join(work, ".git"), "gitdir: ..\n");
      },
    ],
    [
      "a common folder that does not hold it",
      () => {
        const { own: mine } = worktree();
        writeFileSync(join(mine, "commondir"), `${folder("keys")}\n`);
      },
    ],
    [
      "a link in place of the back pointer",
      () => {
        const { own: mine } = worktree();
        writeFileSync(join(base, "pointer"), `${work}/.git\n`);
        rmSync(join(mine, "gitdir"));
        symlinkSync(join(base, "pointer"), join(mine, "gitdir"));
      },
    ],
  ];
  for (const [name, make] of forged) {
    test(`follows no gitdir line to ${name}`, () => {
      make();
      expect(gitBinds(work, "/workspace")).toEqual([own()]);
    });
  }
});

describe("newGitEntries()", () => {
  test("names what appeared and what is another file now, and nothing else", () => {
    folder("work", "kept", ".git");
    writeFileSync(join(work, ".git"), "gitdir: a\n");
    folder("work", "fresh");
    const roots = [{ host: work, view: "/workspace" }];
    const before = gitEntries(roots);
    rmSync(join(work, ".git"));
    folder("work", ".git");
    folder("work", "fresh", ".git");
    expect(newGitEntries(before, gitEntries(roots)).sort()).toEqual([
      "/workspace/.git",
      "/workspace/fresh/.git",
    ]);
  });
});
