// What a cut or refused bootstrap leaves, and that the next one completes it.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gid, isRoot, snapshot, TestTree, uid } from "../../testdata/tree/test-tree.ts";
import type { BootstrapOptions } from "./bootstrap.ts";
import { planTree } from "./bootstrap-plan.ts";
import { recordPath } from "./bootstrap-record.ts";
import { hostPrograms } from "./programs.ts";

// Every tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let tree: TestTree;
beforeEach(() => {
  tree = new TestTree();
});
afterEach(() => tree.destroy());

const module = JSON.stringify(join(import.meta.dir, "bootstrap.ts"));

/** The tree as an uncut run makes it; the record depends on the tree's path and is left out. */
function uncut(): Map<string, string> {
  const other = new TestTree();
  other.bootstrap();
  const found = snapshot(other.source);
  other.destroy();
  found.delete(recordPath);
  return found;
}

function expectWhole(expected: Map<string, string>): void {
  tree.bootstrap();
  const found = snapshot(tree.source);
  expect(found.delete(recordPath)).toBe(true);
  expect(found).toEqual(expected);
  expect(tree.bootstrap().changed).toBe(false);
}

test("kill -9 at any moment leaves a tree that the next run completes", async () => {
  const expected = uncut();
  const script = `const { bootstrap } = await import(${module});
    console.log("start"); bootstrap(${JSON.stringify(tree.options())}); console.log("end");`;
  let cut = 0;
  for (let round = 0; round < 10; round += 1) {
    const child = Bun.spawn([process.execPath, "-e", script], {
      stdout: "pipe",
      stderr: "inherit",
    });
    const reader = child.stdout.getReader();
    await reader.read();
    await Bun.sleep(Math.random() * 200);
    child.kill("SIGKILL");
    await child.exited;
    if (!existsSync(tree.path(recordPath)) || (await hasPending())) cut += 1;
    expectWhole(expected);
    rmSync(tree.source, { recursive: true });
  }
  expect(cut).toBeGreaterThan(0);
});

async function hasPending(): Promise<boolean> {
  const record = await Bun.file(tree.path(recordPath)).json();
  return record.pending !== undefined;
}

test("a tree that lacks any one part gets it back", () => {
  const expected = uncut();
  tree.bootstrap();
  const { source, owner } = tree.options();
  const entries = planTree({ source, owner, groups: [], programs: hostPrograms() });
  // Every seventh, and with a folder all that is in it; the next run makes a different choice.
  const start = Math.floor(Math.random() * 7);
  for (const { path } of entries.filter((_, index) => index % 7 === start)) {
    rmSync(tree.path(path), { recursive: true, force: true });
  }
  expectWhole(expected);
});

test("temporary names that cut runs left in the root and in bin are taken away", () => {
  tree.bootstrap();
  for (const path of ["", "bin/"]) {
    writeFileSync(tree.path(`${path}.status.0123456789ab.tmp`), "cut");
    mkdirSync(tree.path(`${path}.agent.0123456789ab.tmp`));
  }
  rmSync(tree.path("status"));
  tree.bootstrap();
  const left = ["", "bin"].flatMap((path) => readdirSync(tree.path(path)));
  expect(left.filter((name) => name.startsWith("."))).toEqual([]);
});

test("an update that was cut is not taken for a person's edit by a later version", async () => {
  tree.bootstrap();
  const record = await Bun.file(tree.path(recordPath)).json();
  const path = "tool/fs.read.d/description";
  writeFileSync(tree.path(path), "text of the version in between\n");
  const digest = new Bun.CryptoHasher("sha256").update("text of the version in between\n");
  const pending = { ...record.managed, [path]: digest.digest("hex") };
  writeFileSync(tree.path(recordPath), JSON.stringify({ ...record, pending }));
  const report = tree.bootstrap();
  expect(report.entries.find((entry) => entry.path === path)?.action).toBe("update");
});

/** Runs a shell script with a mount namespace of its own, in which `$DISK` is a small tmpfs. */
function onDisk(options: string, steps: string) {
  const boot = (name: string) => `
    ${process.execPath} -e '
      const { bootstrap } = await import(${module});
      const options = { source: "'$DISK'/tree", binaries: "${tree.binaries}", groups: [],
        owner: { uid: process.geteuid(), gid: process.getegid() } };
      try { console.log("${name}", bootstrap(options).changed); }
      catch (error) { console.log("${name}", error.code, error.message); }'`;
  const script = steps.replace(/boot (\w+)/g, (_, name) => boot(name));
  const disk = join(tree.base, "disk");
  mkdirSync(disk);
  const user = isRoot ? [] : ["--user", "--map-root-user"];
  const mount = `mount -t tmpfs -o ${options} tmpfs "$DISK" || exit 9`;
  const done = Bun.spawnSync(["unshare", ...user, "--mount", "sh", "-c", `${mount}\n${script}`], {
    env: { ...process.env, DISK: disk },
  });
  if (done.exitCode === 9) return undefined;
  return done.stdout.toString().trim().split("\n");
}

describe("a disk that refuses", () => {
  test("full: ENOSPC names the file, and the tree heals once there is room", () => {
    const fillers = [
      'head -c 3800k /dev/zero > "$DISK/filler"',
      'mkdir "$DISK/filler"; for n in $(seq 310); do : > "$DISK/filler/$n"; done',
    ];
    for (const fill of fillers) {
      const steps = `${fill}\nboot full\nrm -r "$DISK/filler"\nboot healed\nboot again`;
      const lines = onDisk("size=4m,nr_inodes=400", steps);
      if (!lines) return console.log("SKIP a full disk: mounting a tmpfs is not permitted here");
      expect(lines.length).toBe(3);
      expect(lines[0]).toMatch(/^full ENOSPC cannot write "\S+\/\S+" in tree/);
      expect(lines.slice(1)).toEqual(["healed true", "again false"]);
      rmSync(join(tree.base, "disk"), { recursive: true });
    }
  });

  test("read-only: EROFS names the file; a tree that is whole needs no write", () => {
    const lines = onDisk(
      "size=64m",
      `boot made
       mount -o remount,bind,ro $DISK
       boot whole
       mount -o remount,bind,rw $DISK; rm $DISK/tree/tool/tsh; mount -o remount,bind,ro $DISK
       boot lacking
       mount -o remount,bind,rw $DISK
       boot healed`,
    );
    if (!lines) return console.log("SKIP a read-only disk: mounting is not permitted here");
    expect(lines).toEqual([
      "made true",
      "whole false",
      expect.stringMatching(/^lacking EROFS cannot write "bin\/cortexfs\.bootstrap\.json" in tree/),
      "healed true",
    ]);
  });

  test("not ours: EACCES names the file", () => {
    if (!isRoot) return console.log("SKIP another uid: dropping to it needs root");
    tree.bootstrap();
    chmodSync(tree.base, 0o755);
    rmSync(tree.path("tool/tsh"));
    const said = runAs(tree.owner, tree.options());
    expect(said).toMatch(/^EACCES cannot write "bin\/cortexfs\.bootstrap\.json" in tree/);
  });
});

test("a run that fails part way has marked its record, changed no control and left no file", () => {
  const home = join(tree.base, "home");
  mkdirSync(home);
  const who = isRoot ? { uid: 61190, gid: 61190 } : { uid, gid };
  if (isRoot) for (const path of [home, tree.base]) chownSync(path, who.uid, who.gid);
  const source = join(home, "tree");
  const run = () => runAs(who, { ...tree.options({ source }), owner: who });
  expect(run()).toBe("true\n");

  // An older version's text that is due, and a folder where the plan's next file cannot be made.
  const path = "model/debug/echo.d/effort";
  const record = JSON.parse(readFileSync(join(source, recordPath), "utf8"));
  record.managed[path] = new Bun.CryptoHasher("sha256").update("low\n").digest("hex");
  writeFileSync(join(source, recordPath), JSON.stringify(record));
  writeFileSync(join(source, path), "low\n");
  rmSync(join(source, "tool/tsh"));
  chmodSync(join(source, "tool"), 0o555);
  const before = snapshot(source);
  expect(run()).toMatch(/^EACCES cannot write "tool\/tsh" in tree/);
  const after = snapshot(source);
  for (const found of [before, after]) found.delete(recordPath);
  expect(after).toEqual(before);
  const marked = JSON.parse(readFileSync(join(source, recordPath), "utf8"));
  expect([marked.managed[path], marked.pending["tool/tsh"]]).toEqual([
    record.managed[path],
    record.managed["tool/tsh"],
  ]);

  chmodSync(join(source, "tool"), 0o755);
  expect(run()).toBe("true\n");
  expect(readFileSync(join(source, path), "utf8")).toBe("auto\n");
  expect(run()).toBe("false\n");
});

test("a process that is not root makes a tree for itself alone", () => {
  const mine = isRoot ? { uid: 61190, gid: 61190 } : { uid, gid };
  const home = join(tree.base, "home");
  mkdirSync(home);
  if (isRoot) for (const path of [home, tree.base]) chownSync(path, mine.uid, mine.gid);
  const options = tree.options({ source: join(home, "tree") });
  expect(runAs(mine, { ...options, owner: { uid: 1, gid: 1 } })).toMatch(/^EACCES /);
  expect(existsSync(options.source)).toBe(false);
  expect(runAs(mine, { ...options, owner: mine })).toBe("true\n");
  expect(runAs(mine, { ...options, owner: mine })).toBe("false\n");
});

/** What a bootstrap in a process of `who` says: whether it changed something, or its error. */
function runAs(who: { uid: number; gid: number }, options: BootstrapOptions): string {
  const script = `const { bootstrap } = await import(${module});
    try { console.log(bootstrap(${JSON.stringify(options)}).changed); }
    catch (error) { console.log(error.code, error.message); }`;
  const drop = isRoot
    ? ["setpriv", `--reuid=${who.uid}`, `--regid=${who.gid}`, "--clear-groups"]
    : [];
  return Bun.spawnSync([...drop, process.execPath, "-e", script]).stdout.toString();
}
