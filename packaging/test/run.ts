// Runs the static checks and the test files, each file with the pinned bun in a process of its own,
// and ends with one line `N passed, N failed, N skipped`, in which a check counts as one test.
// `run.ts unit` takes the files that need no build, `run.ts all` everything, `run.ts fuzz` those with
// property tests; with parts of paths after it, only files that have one in theirs, and no check. With
// everything built, tests of commands call the built programs. Exit status 1 when anything failed.

import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { Glob } from "bun";
import { add, type Counts, lastLine, skipLines, summarize } from "./summary.ts";

const top = resolve(import.meta.dir, "../..");
const long = process.env["CTX_LONG"] === "1";

/** One test file may take this long; past it, it is killed with its children and has failed. */
const fileSecondsMax = long ? 3600 : 240;

/** One test or hook. A busy machine is slow and not wrong, so this only ends what hangs. */
const testMsMax = long ? 3_600_000 : 120_000;

/**
 * Parts of the paths of the files that take longest, which begin first: one of them at the end would
 * run alone.
 */
const longFiles = [
  ...["e2e/many-sessions", "e2e/agents", "launch/outside", "mutants/", "launch/step-crash"],
  ...["hostile/", "bwrap/start", "e2e/crash", "session/crash", "e2e/terminal", "systemd/"],
  ...["cmd/ctx/ctx.test", "cmd/ctx/abi.test", "launch/escape", "daemon/", "e2e/", "launch/"],
];

/** Besides what works there is always something that waits: for a disk, a timeout, a process. */
const parallel = availableParallelism() + 1;

/** Folders whose tests drive the programs in dist/. */
const builtFolders = ["testdata/"];

/** Format and lint, types, dead code. All of node, so that they need no particular shell. */
const checks = [
  ["biome", "check", "--log-level=warn", "--diagnostic-level=warn", "."],
  ["tsc", "-p", "."],
  ["knip", "--no-progress"],
] as const;

const patterns = ["cmd", "internal", "sdk", "packaging", "testdata", "bench"];

function testFiles(): string[] {
  const glob = new Glob(`{${patterns.join(",")}}/**/*.test.ts`);
  return [...glob.scanSync({ cwd: top })].sort();
}

interface Running {
  readonly file: string;
  readonly counts: Counts;
}

const children = new Set<number>();

async function runFile(file: string): Promise<Running> {
  const begun = performance.now();
  // Its own session, so that whatever a test left behind can be ended with it.
  const argv = [process.execPath, "test", `--timeout=${testMsMax}`, `./${file}`];
  const child = Bun.spawn(argv, {
    cwd: top,
    env: environment(),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  children.add(child.pid);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    endGroup(child.pid);
  }, fileSecondsMax * 1000);
  const reading = Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const status = await child.exited;
  clearTimeout(timer);
  // A process that a test left behind would hold the pipes open for ever.
  endGroup(child.pid);
  children.delete(child.pid);
  const output = (await reading).join("\n");
  const counts = summarize(output, status);
  report(file, counts, performance.now() - begun);
  if (late) process.stdout.write(`  ${file}: not finished after ${fileSecondsMax} s\n`);
  if (counts.failed > 0) process.stdout.write(`${withoutPassed(output)}\n\n`);
  return { file, counts };
}

async function runCheck(argv: readonly string[]): Promise<Running> {
  const begun = performance.now();
  const [name = "", ...rest] = argv;
  const child = Bun.spawn([resolve(top, "node_modules/.bin", name), ...rest], {
    cwd: top,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  children.add(child.pid);
  const reading = [new Response(child.stdout).text(), new Response(child.stderr).text()];
  const status = await child.exited;
  children.delete(child.pid);
  const counts = { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: [] };
  report(name, counts, performance.now() - begun);
  if (status !== 0) process.stdout.write(`${(await Promise.all(reading)).join("")}\n`);
  return { file: name, counts };
}

/** Without what makes bun print less for some callers. */
function environment(): Record<string, string | undefined> {
  const { CLAUDECODE: _a, REPL_ID: _b, AGENT: _c, ...rest } = process.env;
  const built = which === "all" ? { CTX_TEST_PROGRAMS: join(top, "dist") } : {};
  return { ...rest, ...built, NO_COLOR: "1" };
}

function withoutPassed(output: string): string {
  return output.replace(/^\(pass\) .*\n/gm, "").trim();
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Gone already, which is the usual case.
  }
}

function report(file: string, counts: Counts, milliseconds: number): void {
  const mark = counts.failed > 0 ? "FAIL" : "ok  ";
  const skips = counts.skipped.length > 0 ? `, ${counts.skipped.length} skipped` : "";
  const seconds = (milliseconds / 1000).toFixed(1);
  process.stdout.write(`${mark} ${file}  ${counts.passed} passed${skips}  ${seconds} s\n`);
}

type Work = () => Promise<Running>;

async function runAll(works: readonly Work[]): Promise<Running[]> {
  const waiting = [...works];
  const done: Running[] = [];
  const worker = async () => {
    for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) {
      done.push(await work());
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return done;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    for (const pid of children) endGroup(pid);
    process.exit(130);
  });
}

const [which = "all", ...parts] = process.argv.slice(2);
const needsBuild = (file: string) => builtFolders.some((folder) => file.startsWith(folder));
const hasProperties = (file: string) =>
  readFileSync(join(top, file), "utf8").includes("fast-check");
const wanted = testFiles()
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  .filter((file) => which !== "fuzz" || hasProperties(file));
const rank = (file: string) => {
  const at = longFiles.findIndex((part) => file.includes(part));
  return at < 0 ? longFiles.length : at;
};
const files = wanted
  .filter((file) => which === "all" || !needsBuild(file))
  .sort((a, b) => rank(a) - rank(b));
const asked = which !== "fuzz" && parts.length === 0 ? checks : [];
const results = await runAll([
  ...asked.map((argv) => () => runCheck(argv)),
  ...files.map((file) => () => runFile(file)),
]);
const total = results.map((one) => one.counts).reduce(add, { passed: 0, failed: 0, skipped: [] });
for (const { file, counts } of results) {
  for (const line of skipLines(counts.skipped)) process.stdout.write(`skipped: ${file}: ${line}\n`);
}
for (const { file, counts } of results) {
  if (counts.failed > 0) process.stdout.write(`failed: ${file}\n`);
}
process.stdout.write(`${lastLine(total)}\n`);
process.exit(total.failed > 0 || results.length === 0 ? 1 : 0);
