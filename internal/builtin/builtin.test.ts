import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { observationBytesMax } from "../abi/mod.ts";
import { unifiedDiff } from "./diff.ts";
import { runBuiltin } from "./mod.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync("/tmp/builtin-");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return name;
}

const content = (name: string) => readFileSync(join(folder, name), "utf8");

describe("fs.read", () => {
  test("gives a whole small file unchanged and says nothing beside it", async () => {
    const path = file("small", "a\r\n\tb\ufeffé");
    expect(await runBuiltin("fs.read", { path }, folder)).toEqual({
      status: "ok",
      content: "a\r\n\tb\ufeffé",
    });
  });

  test("cuts a large file to what an observation holds and says how to go on", async () => {
    const text = "0123456789abcde\n".repeat(4000);
    const path = file("large", text);
    let offset = 0;
    let seen = "";
    for (;;) {
      const part = await runBuiltin("fs.read", { path, offset }, folder);
      expect(part.content.length + (part.note?.length ?? 0)).toBeLessThan(observationBytesMax);
      seen += part.content;
      const next = /continue with offset ([0-9]+)\]$/.exec(part.note ?? "");
      if (!next) break;
      offset = Number(next[1]);
    }
    expect(seen).toBe(text);
  });

  test("never splits a character, whatever the offset and the limit", async () => {
    const text = "aé€😀z".repeat(20);
    const path = file("utf8", text);
    await fc.assert(
      fc.asyncProperty(fc.nat(260), fc.integer({ min: 1, max: 40 }), async (offset, limit) => {
        const part = await runBuiltin("fs.read", { path, offset, limit }, folder);
        expect(part.status).toBe("ok");
        expect(text).toContain(part.content);
        expect(Buffer.byteLength(part.content)).toBeLessThanOrEqual(Math.max(limit, 4));
      }),
      { numRuns: 200 },
    );
  });

  test("gives lines by number and says how many there are", async () => {
    const path = file("lines", "one\ntwo\nthree\nfour");
    expect(await runBuiltin("fs.read", { path, line_start: 2, line_end: 3 }, folder)).toEqual({
      status: "ok",
      content: "two\nthree\n",
      note: "[lines 2-3 of 4]",
    });
    const past = await runBuiltin("fs.read", { path, line_start: 9 }, folder);
    expect([past.code, past.content]).toEqual([
      "EINVAL",
      'cannot read "lines": it has only 4 lines [EINVAL]',
    ]);
  });

  test("refuses what is not text, not regular, not there, and both ranges at once", async () => {
    file("binary", new Uint8Array([1, 0, 2]));
    file("latin1", new Uint8Array([0x61, 0xe9, 0x62]));
    Bun.spawnSync(["mkfifo", join(folder, "pipe")]);
    const cases: [unknown, string][] = [
      [{ path: "binary" }, "EINVAL"],
      [{ path: "latin1" }, "EINVAL"],
      [{ path: "pipe" }, "EINVAL"],
      [{ path: "/dev/zero" }, "EINVAL"],
      [{ path: "." }, "EINVAL"],
      [{ path: "none" }, "ENOENT"],
      [{ path: "a\0b" }, "EINVAL"],
      [{ path: "" }, "EINVAL"],
      [{ path: "lines", offset: 1, line_start: 1 }, "EINVAL"],
      [{ path: "lines", offset: -1 }, "EINVAL"],
      [{ path: "lines", limit: 0 }, "EINVAL"],
      [{ path: "lines", other: 1 }, "EINVAL"],
      [["lines"], "EINVAL"],
      [null, "EINVAL"],
    ];
    for (const [args, code] of cases) {
      const result = await runBuiltin("fs.read", args, folder);
      expect([args, result.status, result.code]).toEqual([args, "error", code] as never);
    }
  });

  test("reads files of /proc, which say that they are empty", async () => {
    const result = await runBuiltin("fs.read", { path: "/proc/self/status" }, folder);
    expect(result.content).toContain("Name:");
  });

  test("refuses more than 8 MiB by lines and gives a part of it by bytes", async () => {
    const path = file("huge", "x".repeat(9 * 1024 * 1024));
    const lines = await runBuiltin("fs.read", { path, line_start: 1 }, folder);
    expect(lines.code).toBe("EMSGSIZE");
    const part = await runBuiltin("fs.read", { path, offset: 9437180, limit: 10 }, folder);
    expect(part.content).toBe("xxxx");
    rmSync(join(folder, path));
  });
});

describe("fs.list and fs.stat", () => {
  test("list one JSON object an entry, by name, without following a link", async () => {
    mkdirSync(join(folder, "top/sub/deep"), { recursive: true });
    file("top/b", "12345");
    file("top/sub/c", "");
    symlinkSync("/etc", join(folder, "top/link"));
    const listed = async (depth: number) => {
      const result = await runBuiltin("fs.list", { path: "top", depth }, folder);
      return result.content
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .map(({ path, type }) => `${path} ${type}`);
    };
    expect(await listed(1)).toEqual(["b file", "link symlink", "sub folder"]);
    expect(await listed(3)).toEqual([
      "b file",
      "link symlink",
      "sub folder",
      "sub/c file",
      "sub/deep folder",
    ]);
  });

  test("a cut listing says so", async () => {
    mkdirSync(join(folder, "many"));
    for (let index = 0; index < 12; index++) file(`many/f${index}`, "");
    const result = await runBuiltin("fs.list", { path: "many", limit: 5 }, folder);
    expect(result.content.trim().split("\n")).toHaveLength(5);
    expect(result.note).toStartWith("[cut after 5 entries");
    const whole = await runBuiltin("fs.list", { path: "many", limit: 12 }, folder);
    expect(whole.note).toBeUndefined();
  });

  test("stat describes a link itself and names its target", async () => {
    const result = await runBuiltin("fs.stat", { path: "top/link" }, folder);
    expect(JSON.parse(result.content)).toMatchObject({ type: "symlink", target: "/etc" });
    expect((await runBuiltin("fs.list", { path: "top/b" }, folder)).code).toBe("EINVAL");
    expect((await runBuiltin("fs.list", { path: ".", depth: 33 }, folder)).code).toBe("EINVAL");
  });
});

describe("fs.write", () => {
  test("replaces whole, keeps the mode and leaves nothing else behind", async () => {
    mkdirSync(join(folder, "w"));
    file("w/script", "old");
    chmodSync(join(folder, "w/script"), 0o750);
    const before = statSync(join(folder, "w/script")).ino;
    const result = await runBuiltin("fs.write", { path: "w/script", content: "new" }, folder);
    expect(result).toEqual({ status: "ok", content: "replaced w/script (3 bytes)\n" });
    const facts = statSync(join(folder, "w/script"));
    expect([content("w/script"), facts.mode & 0o777]).toEqual(["new", 0o750]);
    expect(facts.ino).not.toBe(before);
    expect(readdirSync(join(folder, "w"))).toEqual(["script"]);
  });

  test("makes folders only when asked", async () => {
    const args = { path: "w/x/y/z", content: "1" };
    expect((await runBuiltin("fs.write", args, folder)).code).toBe("ENOENT");
    expect((await runBuiltin("fs.write", { ...args, create_dirs: true }, folder)).status).toBe(
      "ok",
    );
    expect(content("w/x/y/z")).toBe("1");
  });

  test("never writes through a symlink, into a folder or onto a device", async () => {
    file("target", "kept");
    symlinkSync(join(folder, "target"), join(folder, "alias"));
    const cases: [string, string][] = [
      ["alias", "EACCES"],
      ["w", "EINVAL"],
      ["w/", "EINVAL"],
      ["w/..", "EINVAL"],
      ["pipe", "EACCES"],
      ["/dev/null", "EACCES"],
    ];
    for (const [path, code] of cases) {
      const result = await runBuiltin("fs.write", { path, content: "x" }, folder);
      expect([path, result.code]).toEqual([path, code] as never);
    }
    expect(content("target")).toBe("kept");
  });

  test("refuses more than 8 MiB", async () => {
    const args = { path: "w/big", content: "x".repeat(8 * 1024 * 1024 + 1) };
    expect((await runBuiltin("fs.write", args, folder)).code).toBe("EMSGSIZE");
  });
});

describe("fs.replace", () => {
  test("edits the one place and answers with a diff", async () => {
    file("edit", "a\nb\nc\nd\ne\nf\ng\nh\n");
    const result = await runBuiltin(
      "fs.replace",
      { path: "edit", old: "e\n", new: "E\nE\n" },
      folder,
    );
    expect(result.content).toBe(
      "--- a/edit\n+++ b/edit\n@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n+E\n f\n g\n h\n",
    );
    expect(content("edit")).toBe("a\nb\nc\nd\nE\nE\nf\ng\nh\n");
  });

  test("a wrong count changes nothing and names the lines", async () => {
    file("twice", "x = 1\ny = 1\nx = 1\n");
    const args = { path: "twice", old: "x = 1", new: "x = 2" };
    const once = await runBuiltin("fs.replace", args, folder);
    expect([once.code, once.content.split("\n")[0]]).toEqual([
      "EINVAL",
      'cannot edit "twice": the old text occurs 2 times (line 1, 3), expected once [EINVAL]',
    ]);
    expect(content("twice")).toBe("x = 1\ny = 1\nx = 1\n");
    expect((await runBuiltin("fs.replace", { ...args, count: 2 }, folder)).status).toBe("ok");
    expect(content("twice")).toBe("x = 2\ny = 1\nx = 2\n");
  });

  test("text that is not there is refused, and a match but for white space is pointed at", async () => {
    file("indent", "if (a) {\n    go();\n}\n");
    const result = await runBuiltin(
      "fs.replace",
      { path: "indent", old: "if (a) {\n\tgo();", new: "x" },
      folder,
    );
    expect(result.content).toContain("line 1 matches but for white space");
    for (const args of [
      { old: "", new: "x" },
      { old: "go", new: "go" },
      { old: "nope", new: "x" },
    ]) {
      expect((await runBuiltin("fs.replace", { path: "indent", ...args }, folder)).code).toBe(
        "EINVAL",
      );
    }
    expect(
      (await runBuiltin("fs.replace", { path: "alias", old: "kept", new: "x" }, folder)).code,
    ).toBe("EACCES");
  });

  test("the diff of any edits turns the old text into the new one when git applies it", () => {
    const line = fc.constantFrom("a", "b", "c", "");
    const texts = fc.array(line, { minLength: 1, maxLength: 30 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(texts, fc.constantFrom("", "\n", "X", "X\nY\n"), (text, next) => {
        const edits = [...text.matchAll(/b\n?/g)].map((match) => ({
          start: match.index,
          end: match.index + match[0].length,
          text: next,
        }));
        if (edits.length === 0) return;
        const expected = text.replace(/b\n?/g, () => next);
        if (expected === text) return;
        writeFileSync(join(folder, "patched"), text);
        const applied = Bun.spawnSync(["git", "apply", "--whitespace=nowarn", "-"], {
          cwd: folder,
          env: { ...process.env, GIT_CEILING_DIRECTORIES: "/tmp" },
          stdin: new TextEncoder().encode(unifiedDiff("patched", text, edits)),
        });
        expect([applied.stderr.toString(), content("patched")]).toEqual(["", expected]);
      }),
      { numRuns: 40 },
    );
  });
});
