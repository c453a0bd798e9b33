// A server whose runtime folder is on a noexec mount, as /run of Debian is: an agent's own commands
// still run the tools and models of its view by their paths. The mounts are real, so the tests run
// once more in a mount namespace of their own, by this file's own first test.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chownSync } from "node:fs";
import { join } from "node:path";
import { UserWorld } from "./user-world.ts";
import { isRoot, World } from "./world.ts";

const insideName = "CTX_TEST_NOEXEC_INSIDE";
const isInside = process.env[insideName] === "1";
const slowMs = 180_000;

const tried = isInside ? undefined : Bun.spawnSync(["unshare", "--mount", "true"]);
const missing = !isRoot
  ? "only root can mount"
  : tried?.exitCode === 0 || isInside
    ? undefined
    : `no mount namespace can be made: ${tried?.stderr.toString().trim()}`;
if (missing !== undefined) console.log(`SKIP a noexec runtime folder: ${missing}`);

const outer = isInside ? [] : [test.skipIf(missing !== undefined)];
for (const one of outer) {
  one(
    "programs of the view run by their paths when the runtime folder is noexec",
    async () => {
      const again = ["unshare", "--mount", process.execPath, "test", import.meta.path];
      const child = Bun.spawn(again, {
        env: { ...process.env, [insideName]: "1" },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      if ((await child.exited) !== 0) throw new Error(`${out}${err}`);
      expect(err).toMatch(/ 4 pass\n/);
    },
    slowMs,
  );
}

const worlds = {
  "of root": () => new World(),
  "of an ordinary user": () => new UserWorld(),
} as const;

for (const [name, make] of isInside ? Object.entries(worlds) : []) {
  describe(`inside: a server ${name}`, () => {
    let world: World;
    beforeAll(async () => {
      world = make();
      const runtime = join(world.base, "run");
      const owner = world instanceof UserWorld ? world.uid : 0;
      const mode = world instanceof UserWorld ? "700" : "755";
      const options = `noexec,nosuid,nodev,mode=${mode}`;
      const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", options, "none", runtime]);
      expect(mounted.exitCode).toBe(0);
      chownSync(runtime, owner, owner);
      await world.bootstrap();
      const may = ["--perm", "rwx", "--tools", "shell.exec,fs.stat", "--model", "debug/script"];
      const made = await world.run(["ctx", "agent", "new", "kit", ...may]);
      expect(made.exit).toBe(0);
      for (const [control, line] of [
        ["tool/shell.exec.d/policy", "allow kit_t tool:shell.exec execute"],
        ["tool/fs.stat.d/policy", "allow kit_t tool:fs.stat execute"],
        ["agent/kit.d/policy", "allow kit_t model:debug/echo use"],
      ] as const) {
        expect((await world.run(["ctx", "append", control, line])).exit).toBe(0);
      }
      if (!(world instanceof UserWorld)) await world.serve();
    }, slowMs);
    afterAll(async () => {
      await world.stop();
      Bun.spawnSync(["umount", "--lazy", join(world.base, "run")]);
      await world.destroy();
    });

    /** What the agent's command printed. */
    async function command(cmd: string): Promise<string> {
      const script = `@call shell.exec ${JSON.stringify({ cmd })}\n@result`;
      const done = await world.run(["ctx", "agent", "send", "kit", "--no-workspace", script]);
      expect(done.exit).toBe(0);
      return done.stdout;
    }

    test(
      "a tool, with an object and with words",
      async () => {
        const printed = await command(
          `/ctx/tool/fs.stat '{"path":"/home/agent"}' && /ctx/tool/fs.stat /ctx/tool && echo both`,
        );
        expect(printed).toContain("both\n");
        expect(printed).not.toMatch(/denied/i);
      },
      slowMs,
    );

    test(
      "a model, which the host asks",
      async () => {
        const printed = await command("/ctx/model/debug/echo 'well heard'; echo status $?");
        expect(printed).toContain("well heard");
        expect(printed).toContain("status 0\n");
      },
      slowMs,
    );
  });
}
