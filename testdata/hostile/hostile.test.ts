import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setStage, variables } from "./stage.ts";

const top = resolve(import.meta.dir, "../..");
const dist = join(top, "dist");
const programs = ["ctx", "ctxd", "ctxmcp", "ctxterm", "tsh"];
/** A debugger that waits for somebody would hang a program for ever; this is where that shows. */
const answerMs = 20_000;

const quiet = mkdtempSync(join(tmpdir(), "quiet-"));
afterAll(() => rmSync(quiet, { recursive: true, force: true }));

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

function run(argv: readonly string[], cwd: string, extra: Record<string, string>): Ran {
  const child = Bun.spawnSync([...argv], {
    cwd,
    env: { PATH: "/usr/bin:/bin", HOME: quiet, ...extra },
    stdin: "ignore",
    timeout: answerMs,
  });
  return { status: child.exitCode, out: child.stdout.toString(), err: child.stderr.toString() };
}

test("the five programs are built", () => {
  expect(readdirSync(dist).sort()).toEqual(programs);
});

test("the traps work: plain bun falls into them", () => {
  const stage = setStage();
  try {
    run([process.execPath, "-e", "0"], stage.folder, {});
    expect(stage.acted()).toContain("trap.js");
    run([process.execPath, "-e", `require("yargs")`], stage.folder, {});
    expect(stage.acted()).toContain("mapped.js");
    run([process.execPath, "-e", `require("yargs")`], join(stage.folder, "unmapped"), {});
    expect(stage.acted()).toContain("node_modules/yargs");
  } finally {
    stage.remove();
  }
});

for (const program of programs) {
  for (const option of ["--version", "--help"]) {
    const argv = [join(dist, program), option];

    test(`${program} ${option} in a hostile folder is as in a quiet one`, () => {
      const stage = setStage();
      try {
        const expected = run(argv, quiet, {});
        expect(expected.status).toBe(0);
        expect(expected.out).not.toBe("");
        const before = readdirSync(stage.folder).sort();
        expect(run(argv, stage.folder, {})).toEqual(expected);
        const all = variables(stage.folder);
        expect(run(argv, stage.folder, all)).toEqual(expected);
        for (const [name, value] of Object.entries(all)) {
          expect({ name, ...run(argv, stage.folder, { [name]: value }) }).toEqual({
            name,
            ...expected,
          });
        }
        expect(stage.acted()).toEqual([]);
        expect(readdirSync(stage.folder).sort()).toEqual(before);
      } finally {
        stage.remove();
      }
    });
  }
}

test("a command that does its work reads no .env and no module of the current folder", () => {
  const stage = setStage();
  try {
    for (const args of [["ls"], ["status", "--no-start"], ["agent", "list"], ["model", "x"]]) {
      const { out, err } = run([join(dist, "ctx"), ...args], stage.folder, {});
      expect(out + err).not.toContain("from-dotenv");
    }
    expect(stage.acted()).toEqual([]);
  } finally {
    stage.remove();
  }
});

test("--version names version, commit and the spoken formats", () => {
  for (const program of programs) {
    const { out } = run([join(dist, program), "--version"], quiet, {});
    expect(out).toMatch(new RegExp(`^${program} \\d+\\.\\d+\\.\\d+ `));
    expect(out).toMatch(/[0-9a-f]{12}|unknown/);
    expect(out).toContain("op/v1");
  }
});
