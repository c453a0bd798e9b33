import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { World } from "../e2e/world.ts";
import { approvalMutants } from "./approval-mutants.ts";
import { mutants as plainMutants } from "./mutants.ts";
import { type Mutant, ProxyServer } from "./proxy.ts";

const mutants = [...plainMutants, ...approvalMutants];
const world = new World();
let sockets = 0;

interface Point {
  readonly talk?: string;
  readonly ok?: boolean;
  readonly draft?: boolean;
  readonly reason?: string;
  readonly came?: string;
}

/** Plays talks through a proxy that is broken by the mutant, or whole without one. */
async function play(
  abi: Mutant["abi"],
  mutant: Mutant | undefined,
  only?: string,
): Promise<{ exit: number; points: readonly Point[]; summary: Record<string, number> }> {
  const path = join(world.base, `proxy-${++sockets}.sock`);
  const asking = `${path}-asking`;
  const to = (agent: string) => ({ path: `${world.source}/agent/${agent}.sock`, uid: world.uid });
  const proxy = await ProxyServer.listen(path, to("coder"), mutant);
  const askingProxy = await ProxyServer.listen(asking, to("asker"), mutant);
  try {
    const named = only === undefined ? [] : ["--only", only];
    const peers = ["--socket", path, "--asking-socket", asking];
    const kit = ["ctx", "abi", "conformance", ...peers, "--abi", abi, "--json", ...named];
    const { exit, stdout } = await world.run(kit, { ms: 110_000 });
    const lines = stdout.trim().split("\n");
    const points = lines.map((line) => JSON.parse(line) as Point);
    const summary = points.pop() as Record<string, number>;
    return { exit, points, summary };
  } finally {
    proxy.close();
    askingProxy.close();
  }
}

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  const asker = ["--model", "debug/script", "--tools", "shell.exec", "--approval", "ask"];
  await world.run(["ctx", "agent", "new", "asker", "--perm", "rwx", ...asker]);
  const line = "allow asker_t tool:shell.exec execute";
  await world.run(["ctx", "append", "tool/shell.exec.d/policy", line]);
  await world.serve();
});
afterAll(() => world.destroy());

describe("the kit, through a proxy that changes nothing,", () => {
  for (const [abi, least] of [
    ["op", 190],
    ["v1", 150],
  ] as const) {
    test(`passes every talk of ${abi}`, async () => {
      const { exit, points, summary } = await play(abi, undefined);
      expect(points.filter(({ ok }) => ok !== true)).toEqual([]);
      expect(summary).toMatchObject({ failed: 0, todo: 0, skipped: 0 });
      expect(summary["passed"]).toBeGreaterThanOrEqual(least);
      expect(exit).toBe(0);
    });
  }

  test("fails no talk of v2 but drafts", async () => {
    const { exit, points, summary } = await play("v2", undefined);
    expect(points.filter(({ ok, draft }) => ok !== true && draft !== true)).toEqual([]);
    expect(summary["failed"]).toBe(0);
    expect(summary["passed"]).toBeGreaterThan(0);
    expect(exit).toBe(0);
  });
});

describe("the kit without an agent that asks", () => {
  const kit = ["ctx", "abi", "conformance", "--socket", `${world.source}/agent/coder.sock`];

  test("skips what needs one and counts it nowhere else", async () => {
    const { exit, stdout } = await world.run([...kit, "--abi", "v1"], { ms: 110_000 });
    const lines = stdout.trim().split("\n");
    const skipped = lines.filter((line) => line.includes("# SKIP"));
    expect(skipped.length).toBeGreaterThan(20);
    for (const line of skipped) {
      expect(line).toMatch(/^ok \d+ - v1\/command-[a-z-]+ # SKIP needs an agent that asks: /);
      expect(line).toEndWith(": --asking-socket");
    }
    const all = Number(/^1\.\.(\d+)$/m.exec(stdout)?.[1]);
    const passed = all - skipped.length;
    const said = `# ${passed} passed, 0 failed, 0 todo, ${skipped.length} skipped`;
    expect([lines.at(-1), exit]).toEqual([said, 0]);
  });

  test("plays nothing rather than skip all that was asked for", async () => {
    const only = ["--abi", "op", "--only", "approval-allow"];
    const { exit, stdout, stderr } = await world.run([...kit, ...only]);
    expect([exit, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("--asking-socket");
  });
});

describe("the kit finds", () => {
  test("at least ten mutants, each with a talk of its own", () => {
    expect(mutants.length).toBeGreaterThanOrEqual(10);
    const goldens = mutants.map(({ abi, golden }) => `${abi}/${golden}`);
    expect(new Set(goldens).size).toBe(goldens.length);
  });

  for (const mutant of mutants) {
    const { name, abi, golden } = mutant;
    test(`${name}, by ${abi}/${golden}`, async () => {
      const { exit, points, summary } = await play(abi, mutant, golden);
      expect(points).toMatchObject([{ talk: `${abi}/${golden}`, ok: false, draft: false }]);
      expect(points[0]?.reason).not.toMatch(/^nothing came|^no connection/);
      expect(summary).toMatchObject({ passed: 0, failed: 1, todo: 0, skipped: 0 });
      expect(exit).toBe(1);
    });
  }

  test("the work done twice by what it left behind, not by a frame", async () => {
    const mutant = mutants.find(({ golden }) => golden === "same-id-replay");
    const { points } = await play("op", mutant, "same-id-replay");
    expect(points[0]?.reason).toContain(String.raw`"2\n`);
  });
});
