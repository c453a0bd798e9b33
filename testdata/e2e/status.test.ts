import { afterAll, beforeAll, expect, test } from "bun:test";
import { World } from "./world.ts";

const world = new World();
const isolated = { CTX_SOURCE: "", XDG_DATA_HOME: "" };

beforeAll(async () => {
  await world.bootstrap();
});
afterAll(() => world.destroy());

/** `--source` is not for the quick path, so this is the full command's answer. */
const full = (...more: string[]) => world.run(["ctx", "status", "--source", world.source, ...more]);

test("the quick status says what the full one says, with a server and without", async () => {
  for (const served of [false, true]) {
    if (served) await world.serve();
    for (const more of [[], ["--json"]]) {
      const quick = await world.run(["ctx", "status", ...more]);
      expect(quick).toEqual(await full(...more));
      expect(quick.exit).toBe(0);
      expect(quick.stdout).toContain(served ? String(world.serverPid) : "server");
    }
  }
});

test("no tree, a relative one and the own tree of a home are answered as by the full command", async () => {
  const none = await world.run(["ctx", "status"], { env: { CTX_SOURCE: "/nonexistent" } });
  expect([none.exit, none.stderr]).toEqual([1, expect.stringContaining("[ENOENT]")]);
  const near = await world.run(["ctx", "status"], {
    cwd: world.base,
    env: { CTX_SOURCE: "current" },
  });
  expect(near.stdout).toContain(`source   ${world.source}\n`);
  const home = await world.run(["ctx", "status"], { env: { ...isolated, HOME: world.workspace } });
  expect(home.stdout + home.stderr).not.toContain(world.source);
});
