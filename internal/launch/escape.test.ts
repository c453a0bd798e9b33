// Attempts to get out of a sandbox, the same ones in each way of running an agent. Each line of the
// probe is a claim of its own. What needs a look from outside is in `outside.test.ts`.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  configurations,
  type DriverOutcome,
  runDriver,
  whyNot,
} from "../../testdata/sandbox/configurations.ts";
import { expectations } from "../../testdata/sandbox/expectations.ts";
import type { Scene } from "../../testdata/sandbox/scene.ts";
import { canFence } from "../bwrap/mod.ts";

const probes = new URL("../../testdata/sandbox/probes.py", import.meta.url).pathname;
const python = "/usr/bin/python3";
const missing = existsSync(python) ? whyNot() : `there is no ${python}`;
if (missing !== undefined) console.log(`SKIP escapes: ${missing}`);

/** The probe writes half a gigabyte and forks until it may not. */
const probeMsMax = 180_000;

for (const configuration of configurations) {
  describe.skipIf(missing !== undefined)(`in the sandbox (${configuration.name})`, () => {
    let scene: Scene;
    let outcome: DriverOutcome;
    let lines = new Map<string, string>();
    const outside = mkdtempSync("/tmp/ctx-outside-");
    const abstract = `ctx-test-${process.pid}-${configuration.kernelUid}`;
    const server = Bun.listen({
      unix: `\0${abstract}`,
      socket: { data() {} },
    });
    beforeAll(async () => {
      scene = configuration.scene();
      writeFileSync(join(outside, "secret"), "a secret outside of every mount");
      const git = join(scene.workspace, ".git");
      mkdirSync(join(git, "hooks"), { recursive: true });
      writeFileSync(join(git, "config"), "[core]\n");
      Bun.spawnSync(["chown", "-R", `${scene.agentUid}`, git]);
      const source = readFileSync(probes, "utf8");
      outcome = await runDriver(
        configuration,
        scene,
        { cmd: [python, "-c", source, abstract, outside] },
        { change: { timeoutMs: probeMsMax } },
      );
      lines = new Map(
        outcome.output.split("\n").map((line) => line.split("\t", 2) as [string, string]),
      );
    }, probeMsMax);
    afterAll(() => {
      server.stop(true);
      rmSync(scene.base, { recursive: true, force: true });
      rmSync(outside, { recursive: true, force: true });
    });

    test("the probe ran to its end", () => {
      expect(outcome).toMatchObject({ status: "ok", exit: 0, newGit: [] });
    });

    const expected = expectations(canFence());
    for (const [name, what] of Object.entries(expected)) {
      test(`${name}: ${what}`, () => {
        expect(lines.get(name)).toBe(what);
      });
    }

    for (const file of ["kernel/core_pattern", "kernel/hostname", "vm/drop_caches"]) {
      test(`/proc/sys/${file} cannot be written`, () => {
        expect(["EROFS", "EACCES"]).toContain(lines.get(`write /proc/sys/${file}`) ?? "absent");
      });
    }

    test("/proc/sysrq-trigger cannot be written", () => {
      const refusals = ["EROFS", "EACCES", "ENOENT"];
      expect(refusals).toContain(lines.get("write /proc/sysrq-trigger") ?? "absent");
    });

    test("no other home is there", () => {
      expect(lines.get("homes")).toBe(`['agent', '${scene.agentUid}']`);
    });

    test.skipIf(process.arch !== "x64")("a call of the x32 ABI is refused", () => {
      expect(lines.get("x32 getpid")).toBe("ENOSYS");
    });

    test("no start file of a shell is in /etc, and no resolver", () => {
      const names = lines.get("etc") ?? "";
      expect(names).toContain("'passwd'");
      expect(names).not.toMatch(/profile|bashrc|shadow|resolv/);
    });
  });
}
