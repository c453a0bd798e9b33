// What a cut or refused bootstrap leaves, and that the next one completes it.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gid, isRoot, snapshot, TestTree, uid } from "../../testdata/tree/test-tree.ts";
import { planTree } from "./bootstrap-plan.ts";
import { recordPath } from "./bootstrap-record.ts";

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
}, 60_000);

async function hasPending(): Promise<boolean> {
  const record = await Bun.file(tree.path(recordPath)).json();
  return record.pending !== undefined;
}

test("a tree that lacks any one part gets it back", () => {
  const expected = uncut();
  tree.bootstrap();
  const { source, owner } = tree.options();
  const entries = planTree({ source, owner, groups: [] });
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
      expect.stringMatching(/^lacking EROFS cannot write "tool\/tsh" in tree/),
      "healed true",
    ]);
  });

  test("not ours: EACCES names the file", () => {
    if (!isRoot) return console.log("SKIP another uid: dropping to it needs root");
    tree.bootstrap();
    chmodSync(tree.base, 0o755);
    rmSync(tree.path("tool/tsh"));
    const script = `const { bootstrap } = await import(${module});
      const options = ${JSON.stringify(tree.options())};
      try { bootstrap(options); } catch (error) { console.log(error.code, error.message); }`;
    const { uid: other } = tree.owner;
    const done = Bun.spawnSync([
      "setpriv",
      `--reuid=${other}`,
      `--regid=${other}`,
      "--clear-groups",
      process.execPath,
      "-e",
      script,
    ]);
    expect(done.stdout.toString()).toMatch(/^EACCES cannot write "tool\/tsh" in tree/);
  });
});

test("a process that is not root makes a tree for itself alone", () => {
  const drop = isRoot ? ["setpriv", "--reuid=61190", "--regid=61190", "--clear-groups"] : ["env"];
  const mine = isRoot ? { uid: 61190, gid: 61190 } : { uid, gid };
  const home = join(tree.base, "home");
  mkdirSync(home, { mode: 0o777 });
  if (isRoot) Bun.spawnSync(["chown", "61190:61190", home, tree.base]);
  const run = (owner: object) => {
    const options = { ...tree.options({ source: join(home, "tree") }), owner };
    const script = `const { bootstrap } = await import(${module});
      try { console.log(bootstrap(${JSON.stringify(options)}).changed); }
      catch (error) { console.log(error.code); }`;
    return Bun.spawnSync([...drop, process.execPath, "-e", script]).stdout.toString();
  };
  expect(run({ uid: 1, gid: 1 })).toBe("EACCES\n");
  expect(run(mine)).toBe("true\n");
  expect(run(mine)).toBe("false\n");
});
