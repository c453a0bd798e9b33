// What the compiled ctx carries of abi/ is the folder itself, and it needs no checkout to say so.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const top = resolve(import.meta.dir, "../..");
const ctx = join(top, "dist/ctx");
const base = mkdtempSync(join(tmpdir(), "ctx-abi-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".tmp"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

function run(...argv: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([ctx, ...argv], { cwd: base, env: {} });
  return { exit: exitCode, out: stdout.toString(), err: stderr.toString() };
}

test("ctx abi export writes abi/ byte for byte, in a folder with no checkout around", () => {
  expect(run("abi", "export", "out")).toMatchObject({ exit: 0, err: "" });
  const files = filesBelow(join(top, "abi"));
  expect(files.length).toBeGreaterThan(500);
  expect(filesBelow(join(base, "out"))).toEqual(files);
  const different = files.filter(
    (file) => !readFileSync(join(top, "abi", file)).equals(readFileSync(join(base, "out", file))),
  );
  expect(different).toEqual([]);
});

test("every accept golden is verified by the compiled ctx as the frame it is", () => {
  for (const protocol of [
    "op/v1",
    "interaction/v1",
    "interaction/v2",
    "sdk-envelope/v1",
    "control/v1",
    "tool-native/v1",
    "terminal-call/v1",
  ]) {
    const folder = join(base, "out", protocol, "accept");
    const names = readdirSync(folder);
    const all = join(base, `${protocol.replace("/", "-")}.jsonl`);
    Bun.spawnSync(["sh", "-c", 'cat "$1"/*.json > "$2"', "sh", folder, all]);
    const { exit, out } = run("abi", "verify", "--abi", protocol, all);
    expect([exit, out.trim().split("\n").length]).toEqual([0, names.length]);
  }
});

test("the digests of the frozen files are those that sha256sum finds in what was written", () => {
  const { exitCode, stderr } = Bun.spawnSync(["sha256sum", "--check", "--quiet", "FROZEN.sha256"], {
    cwd: join(base, "out"),
  });
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
});
