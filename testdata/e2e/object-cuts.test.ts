// Installing by the built programs while they are killed, raced with and left without room: there is a
// whole object of the very content that the manifest binds, or none, and what is left can be cleaned.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Candidate, sha256, writeCandidate } from "../install/candidates.ts";
import { UserWorld } from "./user-world.ts";
import { isRoot, World } from "./world.ts";

setDefaultTimeout(300_000);

const world = new World();
const work = join(world.base, "manifests");
beforeAll(async () => {
  mkdirSync(work);
  await world.bootstrap();
});
afterAll(() => world.destroy());

const rounds = process.env["CTX_LONG"] === "1" ? 200 : 8;
const at = (path: string) => join(world.source, path);
const ctx = (...words: string[]) => world.run(["ctx", ...words]);
const inTool = () =>
  readdirSync(at("tool"))
    .filter((name) => name.includes("box.open"))
    .sort();

/** Large enough that a kill falls into its copying too. */
const filler = `# ${"filler ".repeat(9)}\n`.repeat(100_000);
const content = (word: string) => `#!/bin/sh\necho ${word}\n${filler}`;
const write = (said: Partial<Candidate> = {}) =>
  writeCandidate(work, { executable: content("open"), ...said });

function isObject(): boolean {
  try {
    accessSync(at("tool/box.open"), constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Removes all residue as the list names it; gives what each was. */
async function cleanAll(): Promise<string[]> {
  const { stdout } = await ctx("object", "residue", "audit", "--json");
  const found = stdout.split("\n").filter(Boolean);
  const kinds: string[] = [];
  for (const line of found) {
    const { path, dev, ino, what } = JSON.parse(line) as Record<string, string>;
    const words = [path, dev, ino].map(String);
    const { exit, stderr } = await ctx("object", "residue", "cleanup", ...words);
    // Old controls go back to their object instead, so that other files are at these paths then.
    if (exit !== 0) expect(stderr).toMatch(/ (?:is another file .*\[EACCES\]|.*\[ENOENT\])\n/);
    kinds.push(String(what));
  }
  if (kinds.length > 0) return [...kinds, ...(await cleanAll())];
  return kinds;
}

/** Runs a command and kills it once its folder has changed for the n-th time; true when that came first. */
async function killed(n: number, ...words: string[]): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let seen = 0;
  const watcher = watch(at("tool"), () => {
    seen += 1;
    if (seen === n) resolve();
  });
  const child = Bun.spawn([join(world.dist, "ctx"), ...words], {
    env: world.env,
    stdio: ["ignore", "ignore", "ignore"],
  });
  // By chance a little later, so that the cuts lie between the changes as well.
  void promise.then(() => setTimeout(() => child.kill("SIGKILL"), (n * 7) % 5));
  await child.exited;
  watcher.close();
  return child.signalCode === "SIGKILL";
}

test(`kill -9 at ${rounds} moments of an installation: a whole object or none`, async () => {
  const path = write();
  let cuts = 0;
  for (let round = 0; round < rounds; round += 1) {
    if (await killed(1 + (round % 4), "object", "install", path)) cuts += 1;
    if (isObject()) {
      expect((await ctx("object", "inspect", "tool/box.open")).exit).toBe(0);
      await cleanAll();
      expect((await ctx("object", "uninstall", "tool/box.open", "--yes")).exit).toBe(0);
    }
    await cleanAll();
    expect(inTool()).toEqual([]);
  }
  expect(cuts).toBeGreaterThan(0);
});

test(`kill -9 at ${rounds} moments of a replacement: the old object or the new one`, async () => {
  expect((await ctx("object", "install", write())).exit).toBe(0);
  writeFileSync(at("tool/box.open.d/policy"), "# mine\n");
  let cuts = 0;
  for (let round = 0; round < rounds; round += 1) {
    const next = write({ executable: content(`open ${round}`) });
    if (await killed(1 + (round % 5), "object", "install", next, "--replace")) cuts += 1;
    expect(isObject()).toBe(true);
    await cleanAll();
    const { exit, stdout } = await ctx("object", "inspect", "tool/box.open", "--json");
    expect(exit).toBe(0);
    const { receipt } = JSON.parse(stdout) as { receipt: { executable: { sha256: string } } };
    expect(sha256(readFileSync(at("tool/box.open")))).toBe(receipt.executable.sha256);
    expect(readFileSync(at("tool/box.open.d/policy"), "utf8")).toBe("# mine\n");
    expect(inTool()).toEqual(["box.open", "box.open.d"]);
  }
  expect(cuts).toBeGreaterThan(0);
  expect((await ctx("object", "uninstall", "tool/box.open", "--yes")).exit).toBe(0);
});

/** Does `work` while another process does the same steps over and over. */
async function during(steps: string, work: () => Promise<void>): Promise<void> {
  const stop = join(world.base, "stop");
  // It ends between two rounds, so that nothing stays swapped.
  const child = Bun.spawn(["sh", "-c", `until [ -e stop ]; do ${steps}; done`], {
    cwd: world.base,
    stdio: ["ignore", "ignore", "ignore"],
  });
  try {
    await work();
  } finally {
    writeFileSync(stop, "");
    await child.exited;
    rmSync(stop);
  }
}

test("an executable, or a folder on its way, that is swapped all the time: the bound one or none", async () => {
  const path = write({ executable: "#!/bin/sh\necho open\n" });
  const evil = join(world.base, "evil");
  mkdirSync(evil);
  writeFileSync(join(evil, "box.open"), "#!/bin/sh\necho evil\n", { mode: 0o755 });
  const swaps = [
    "cp -p evil/box.open manifests/x; cp -p manifests/bin/box.open manifests/y; " +
      "mv -f manifests/x manifests/bin/box.open; mv -f manifests/y manifests/bin/box.open",
    "mv -T manifests/bin manifests/away; ln -s ../evil manifests/bin; " +
      "rm manifests/bin; mv -T manifests/away manifests/bin",
  ];
  const outcomes = new Map<number, number>();
  for (const swap of swaps) {
    await during(swap, async () => {
      for (let round = 0; round < rounds; round += 1) {
        const { exit } = await ctx("object", "install", path);
        outcomes.set(exit, (outcomes.get(exit) ?? 0) + 1);
        if (exit === 0) {
          expect(readFileSync(at("tool/box.open"), "utf8")).toBe("#!/bin/sh\necho open\n");
          expect((await ctx("object", "uninstall", "tool/box.open", "--yes")).exit).toBe(0);
        }
        expect(inTool()).toEqual([]);
      }
    });
  }
  // 0, or a refusal by its code: a digest, a symlink, a name that is missing for a moment.
  for (const exit of outcomes.keys()) expect([0, 1, 2, 13]).toContain(exit);
  expect(outcomes.size).toBeGreaterThan(1);
});

test("a target folder that becomes a symlink leads to nothing outside of the tree", async () => {
  const path = write({ executable: "#!/bin/sh\necho open\n" });
  const outside = join(world.base, "outside");
  mkdirSync(outside);
  const home = at(`home/${world.uid}`);
  const install = () => ctx("object", "install", path, "--tier", "user");
  renameSync(join(home, "tool"), join(home, "away"));
  symlinkSync(outside, join(home, "tool"));
  const refused = await install();
  expect([refused.exit, refused.stderr]).toEqual([13, expect.stringContaining("symlink")]);
  rmSync(join(home, "tool"));
  renameSync(join(home, "away"), join(home, "tool"));
  const swap = `mv -T ${home}/tool ${home}/away; ln -s ${outside} ${home}/tool`;
  await during(`${swap}; rm ${home}/tool; mv -T ${home}/away ${home}/tool`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      await install();
      expect(readdirSync(outside)).toEqual([]);
    }
  });
});

test("no room: refused with its code, and nothing is left", async () => {
  const place = at(`home/${world.uid}/tool`);
  if (!isRoot) return console.log("SKIP no room: mounting needs root");
  const mount = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "none", place];
  if (Bun.spawnSync(mount).exitCode !== 0) return console.log("SKIP no room: mounting is refused");
  try {
    const full = await ctx("object", "install", write(), "--tier", "user");
    expect([full.exit, full.stderr]).toEqual([70, expect.stringContaining("[ENOSPC]")]);
    expect(readdirSync(place)).toEqual([]);
    const small = write({ executable: "#!/bin/sh\n" });
    expect((await ctx("object", "install", small, "--tier", "user")).exit).toBe(0);
    expect(readdirSync(place).sort()).toEqual(["box.open", "box.open.d"]);
  } finally {
    Bun.spawnSync(["umount", "-l", place]);
  }
});

test("a user installs for himself, in either tier of his own tree, and uses it", async () => {
  const own = new UserWorld();
  const folder = join(own.base, "manifests");
  mkdirSync(folder);
  try {
    await own.bootstrap();
    await own.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
    const executable = "#!/bin/sh\nread -r line\necho mine\n";
    const path = writeCandidate(folder, { name: "my.tool", executable });
    for (const [tier, object] of [
      ["user", `home/${own.uid}/tool/my.tool`],
      ["system", "tool/my.tool"],
    ] as const) {
      const argv = ["ctx", "object", "install", path, "--tier", tier, "--json"];
      const { exit, stdout, stderr } = await own.run(argv);
      expect([exit, stderr]).toEqual([0, ""]);
      const said = JSON.parse(stdout) as { object: string; missing: Record<string, string>[] };
      expect(said.object).toBe(object);
      expect(said.missing.map(({ file }) => file)).toEqual([
        ...(tier === "user" ? ["agent/coder.d/policy"] : []),
        `${object}.d/policy`,
      ]);
      for (const { file = "", line = "" } of said.missing) {
        expect((await own.run(["ctx", "append", file, line])).exit).toBe(0);
      }
      const call = '@call tsh {"args":["my.tool","{}"]}\n@result';
      expect((await own.run(["ctx", "agent", "send", "coder", call])).stdout).toContain("mine");
      expect((await own.run(["ctx", "object", "uninstall", object, "--yes"])).exit).toBe(0);
      const gone = await own.run(["ctx", "agent", "send", "coder", call]);
      expect(gone.stdout + gone.stderr).toContain("my.tool");
      expect(gone.stdout).not.toContain("mine");
    }
    // Somebody else's tree is not his to install in.
    if (!isRoot) return console.log("SKIP another's tree: it takes a second user");
    const other = ["ctx", "object", "install", path, "--source", world.source];
    const refused = await own.run(other);
    expect(refused.exit).toBe(13);
    expect(refused.stderr).toStartWith('ctx: cannot install "tool/my.tool": permission denied [EA');
    expect(refused.stderr).toContain("or say --tier user for a tool of your own");
    expect(existsSync(at("tool/my.tool"))).toBe(false);
    // His own tier there is his home, once the tree has one for him.
    const homeless = await own.run([...other, "--tier", "user"]);
    expect([homeless.exit, homeless.stderr]).toEqual([
      1,
      expect.stringContaining(`uid ${own.uid} has no home in this tree`),
    ]);
    mkdirSync(at(`home/${own.uid}`));
    chownSync(at(`home/${own.uid}`), own.uid, own.uid);
    expect((await own.run([...other, "--tier", "user"])).exit).toBe(0);
    const made = statSync(at(`home/${own.uid}/tool/my.tool`));
    expect([made.uid, made.gid, made.mode & 0o777]).toEqual([own.uid, own.uid, 0o755]);
  } finally {
    await own.destroy();
  }
});
