// The gate script under every shell that may be /bin/sh here.

import { describe, expect, test } from "bun:test";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gateReady, gateScript, gateShutStatus, gateToken } from "./gate.ts";

const shells = ["/bin/sh", "/bin/dash", "/bin/bash"].filter((path) => existsSync(path));

/** A file that stands for the gate's socket: the mark is written over its start, the token follows. */
function gateFile(content: string): number {
  const path = join(mkdtempSync("/tmp/cortexfs-gate-"), "gate");
  writeFileSync(path, content);
  const fd = openSync(path, "r+");
  rmSync(dirname(path), { recursive: true });
  return fd;
}

for (const shell of shells) {
  /** The gate's socket is a FIFO's stand-in: a file with what the host would send. */
  const run = (sent: string, combined = true, program = ["/bin/sh", "-c", "ulimit -n; exit 5"]) =>
    Bun.spawnSync(
      [shell, "-c", `exec 5<>/dev/fd/0; ${gateScript(5, combined)}`, "gate", ...program],
      { stdin: new TextEncoder().encode(`${" ".repeat(gateReady.length)}\n${sent}`) },
    );

  describe(`gateScript() in ${shell}`, () => {
    test("becomes the program after the token, with the limits", () => {
      const { exitCode, stdout } = run(gateToken());
      expect(exitCode).toBe(5);
      expect(stdout.toString()).toBe("1024\n");
    });

    test("becomes a shell command from its input, newlines and all, with a PATH of its own", () => {
      const command =
        'printf "%s|" "$PATH" "$0"; cat; echo wrong >&2; test ! -e /proc/self/fd/5\n\n';
      const opened = (combined: boolean) => {
        const token = gateToken({ kind: "command", combined });
        const gate = gateFile(`${" ".repeat(gateReady.length)}\n${token}`);
        const { stdout, stderr, exitCode } = Bun.spawnSync(
          [shell, "-c", gateScript(5, false), "gate", "unused"],
          {
            stdio: [new TextEncoder().encode(command), "pipe", "pipe", null, null, gate] as never,
          },
        );
        closeSync(gate);
        return [stdout?.toString(), stderr?.toString(), exitCode];
      };
      expect(opened(true)).toEqual(["/usr/local/bin:/usr/bin:/bin|/bin/sh|wrong\n", "", 0]);
      expect(opened(false)).toEqual(["/usr/local/bin:/usr/bin:/bin|/bin/sh|", "wrong\n", 0]);
    });

    for (const sent of ["", "go", "stop\n", "\n"]) {
      test(`runs nothing for ${JSON.stringify(sent)}`, () => {
        const { exitCode, stdout } = run(sent);
        expect(exitCode).toBe(gateShutStatus);
        expect(stdout.toString()).toBe("");
      });
    }

    test("bounds the processes of the program", () => {
      const { stdout } = run(gateToken(), true, ["/bin/cat", "/proc/self/limits"]);
      expect(stdout.toString()).toMatch(/^Max processes +256 +256 /m);
      expect(stdout.toString()).toMatch(/^Max core file size +0 +0 /m);
    });

    test("closes its descriptor and joins the streams only when asked", () => {
      const program = ["/bin/sh", "-c", "echo wrong >&2; test ! -e /proc/self/fd/5"];
      const joined = run(gateToken(), true, program);
      expect([joined.exitCode, joined.stdout.toString()]).toEqual([0, "wrong\n"]);
      const apart = run(gateToken(), false, program);
      expect([apart.stdout.toString(), apart.stderr.toString()]).toEqual(["", "wrong\n"]);
    });
  });
}
