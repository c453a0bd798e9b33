import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isRoot, refusal } from "../../testdata/tree/test-tree.ts";
import { ensureRuntimeFolder, resolvePlaces, treeRuntime } from "./mod.ts";

describe("resolvePlaces()", () => {
  test("gives root the system's places", () => {
    expect(resolvePlaces({ env: { HOME: "/root", XDG_DATA_HOME: "/x" }, uid: 0 })).toEqual({
      mode: "system",
      uid: 0,
      source: "/var/lib/cortexfs/storage/current",
      runtime: "/run/cortexfs",
      config: "/etc/cortexfs",
      secrets: "/var/lib/cortexfs/secrets",
    });
  });

  test("gives a user places of the home, and by the XDG variables when they are absolute", () => {
    // An uid that has no login, so that /run/user holds nothing for it.
    const uid = 4_000_000_000;
    expect(resolvePlaces({ env: { HOME: "/home/ann", XDG_CONFIG_HOME: "conf" }, uid })).toEqual({
      mode: "user",
      uid,
      source: "/home/ann/.local/share/cortexfs/current",
      runtime: `/tmp/cortexfs-${uid}`,
      config: "/home/ann/.config/cortexfs",
      secrets: "/home/ann/.local/share/cortexfs/secrets",
    });
    const env = { XDG_DATA_HOME: "/d", XDG_CONFIG_HOME: "/c", XDG_RUNTIME_DIR: "/tmp" };
    expect(resolvePlaces({ env, uid })).toEqual({
      mode: "user",
      uid,
      source: "/d/cortexfs/current",
      runtime: "/tmp/cortexfs",
      config: "/c/cortexfs",
      secrets: "/d/cortexfs/secrets",
    });
  });

  test("takes a private folder when neither the named nor the login's runtime folder is there", () => {
    const uid = 4_000_000_000;
    const env = { HOME: "/home/ann", XDG_RUNTIME_DIR: `/run/user/${uid}` };
    expect(resolvePlaces({ env, uid }).runtime).toBe(`/tmp/cortexfs-${uid}`);
  });

  test("takes every place from its own variable, for root too", () => {
    const env = {
      CTX_SOURCE: "/t/tree",
      CTX_RUNTIME_DIR: "/t/run",
      CTX_CONFIG_DIR: "/t/conf",
      CTX_SECRETS_DIR: "/t/keys",
    };
    for (const uid of [0, 1000]) {
      expect(resolvePlaces({ env, uid })).toMatchObject({
        source: "/t/tree",
        runtime: "/t/run",
        config: "/t/conf",
        secrets: "/t/keys",
      });
    }
    expect(resolvePlaces({ source: "/mine", env, uid: 0 }).source).toBe("/mine");
    expect(resolvePlaces({ source: "rel/../tree", env, uid: 0 }).source).toBe(
      join(process.cwd(), "tree"),
    );
    expect(resolvePlaces({ env: { CTX_SOURCE: "" }, uid: 0 }).source).toBe(
      "/var/lib/cortexfs/storage/current",
    );
  });

  test("refuses what it cannot place", () => {
    expect(refusal(() => resolvePlaces({ env: {}, uid: 1000 })).code).toBe("EINVAL");
    expect(refusal(() => resolvePlaces({ source: "", env: {}, uid: 0 })).code).toBe("EINVAL");
    for (const name of ["CTX_RUNTIME_DIR", "CTX_CONFIG_DIR", "CTX_SECRETS_DIR"]) {
      const error = refusal(() => resolvePlaces({ env: { [name]: "here" }, uid: 0 }));
      expect([error.code, error.message.includes(name)]).toEqual(["EINVAL", true]);
    }
  });
});

describe("the runtime folder", () => {
  let base = "";
  beforeEach(() => {
    base = mkdtempSync("/tmp/cortexfs-runtime-");
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));
  const at = (name: string) => join(base, name);

  test("of a tree is one, by whatever name the tree is reached", () => {
    mkdirSync(at("tree"));
    symlinkSync("tree", at("link"));
    const folder = treeRuntime({ runtime: "/run/cortexfs", source: at("tree") });
    expect(folder).toMatch(/^\/run\/cortexfs\/tree-[0-9a-f]{16}$/);
    expect(treeRuntime({ runtime: "/run/cortexfs", source: at("link") })).toBe(folder);
    expect(treeRuntime({ runtime: "/run/cortexfs", source: `${at("tree")}/` })).toBe(folder);
    expect(treeRuntime({ runtime: "/run/cortexfs", source: at("other") })).not.toBe(folder);
  });

  test("is made with its missing parts and its mode, whatever the umask", () => {
    for (const mask of [0, 0o077]) {
      const before = process.umask(mask);
      try {
        ensureRuntimeFolder(at(`a${mask}/b`), 0o755);
        ensureRuntimeFolder(at(`a${mask}/b/private`), 0o700);
      } finally {
        process.umask(before);
      }
      const modes = ["", "/b", "/b/private"].map(
        (path) => statSync(at(`a${mask}${path}`)).mode & 0o777,
      );
      expect(modes).toEqual([0o755, 0o755, 0o700]);
    }
  });

  test("is taken as it is when it is right, or stricter", () => {
    mkdirSync(at("strict"), { mode: 0o700 });
    ensureRuntimeFolder(at("strict"), 0o755);
    expect(statSync(at("strict")).mode & 0o777).toBe(0o700);
  });

  test("is refused when it is looser, a symlink or a file", () => {
    mkdirSync(at("loose"));
    chmodSync(at("loose"), 0o750);
    const loose = refusal(() => ensureRuntimeFolder(at("loose"), 0o700));
    expect([loose.code, loose.message.includes("mode 0750")]).toEqual(["EACCES", true]);
    expect(loose.hint).toContain("chmod 0700");

    mkdirSync(at("real"), { mode: 0o700 });
    symlinkSync(at("real"), at("link"));
    const link = refusal(() => ensureRuntimeFolder(at("link"), 0o700));
    expect([link.code, link.message.includes("symlink")]).toEqual(["EACCES", true]);
    symlinkSync(at("nowhere"), at("dangling"));
    expect(refusal(() => ensureRuntimeFolder(at("dangling"), 0o700)).code).toBe("EACCES");
    expect(existsSync(at("nowhere"))).toBe(false);

    writeFileSync(at("file"), "");
    expect(refusal(() => ensureRuntimeFolder(at("file"), 0o700)).code).toBe("EACCES");
  });

  test("is refused below a folder in which others could swap it", () => {
    mkdirSync(at("open"));
    chmodSync(at("open"), 0o777);
    const error = refusal(() => ensureRuntimeFolder(at("open/run"), 0o700));
    expect([error.code, error.message.includes("sticky")]).toEqual(["EACCES", true]);
    chmodSync(at("open"), 0o1777);
    ensureRuntimeFolder(at("open/run"), 0o700);
  });

  test("is refused when it is somebody else's, or below something that is", () => {
    if (!isRoot) return console.log("SKIP another owner: chown needs root");
    mkdirSync(at("theirs"), { mode: 0o700 });
    chownSync(at("theirs"), 61184, 61184);
    const error = refusal(() => ensureRuntimeFolder(at("theirs"), 0o700));
    expect([error.code, error.message.includes("uid 61184")]).toEqual(["EACCES", true]);
    expect(refusal(() => ensureRuntimeFolder(at("theirs/run"), 0o700)).code).toBe("EACCES");
  });
});

test("a source is absolute and plain, whatever way it was named", () => {
  const named = (source: string) =>
    resolvePlaces({ source, env: { HOME: "/h" }, uid: 1000 }).source;
  expect(named("/a//b/./c/../d/")).toBe("/a/b/d");
  expect(named("/..")).toBe("/");
  expect(named("x/y")).toBe(`${process.cwd()}/x/y`);
  const { config } = resolvePlaces({ env: { HOME: "/h//" }, uid: 1000 });
  expect(config).toBe("/h/.config/cortexfs");
});
