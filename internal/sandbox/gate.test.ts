// The gate script under every shell that may be /bin/sh here.

import { describe, expect, test } from "bun:test";
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gateReady, gateScript, gateShutStatus, gateToken, gateWarm } from "./gate.ts";

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
      [
        shell,
        "-c",
        `exec 5<>/dev/fd/0; ${gateScript({ descriptor: 5, combined })}`,
        "gate",
        ...program,
      ],
      {
        // Nothing of how the tests themselves are run.
        env: { PATH: process.env["PATH"] ?? "" },
        stdin: new TextEncoder().encode(`${" ".repeat(gateReady.length)}\n${sent}`),
      },
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
          [shell, "-c", gateScript({ descriptor: 5, combined: false }), "gate", "unused"],
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

    for (const kind of ["program", "command"] as const) {
      test(`a program that was started early ${kind === "program" ? "answers" : "gives way"}`, () => {
        const opening = kind === "program" ? { kind } : { kind, combined: false };
        const gate = gateFile(`${" ".repeat(gateReady.length)}\n${gateWarm}${gateToken(opening)}`);
        const early = gateFile("its input\n");
        const { stdout, stderr, exitCode } = Bun.spawnSync(
          [
            ...[shell, "-c", gateScript({ descriptor: 5, combined: false, warm: 6 }), "gate"],
            // What it would print comes after the time in which a command takes its place.
            ...["/bin/sh", "-c", "read -r line; sleep 0.2; echo early $line; exit 7"],
          ],
          {
            stdio: [
              new TextEncoder().encode("echo late; ls /proc/self/fd"),
              ...["pipe", "pipe", null, null, gate, early],
            ] as never,
          },
        );
        for (const fd of [gate, early]) closeSync(fd);
        const expected =
          kind === "program" ? ["early its input\n", "", 7] : ["late\n0\n1\n2\n3\n", "", 0];
        expect([stdout?.toString(), stderr?.toString(), exitCode]).toEqual(expected);
      });
    }

    test("tells the program its run, session and step, and nothing that it was not told", () => {
      const told = (news: Parameters<typeof gateToken>[1]) => {
        const token = gateToken({ kind: "program" }, news);
        const { stdout } = run(token, true, ["/bin/sh", "-c", "env | grep ^CTX_ | sort"]);
        return stdout.toString();
      };
      const names = { run: "ctx-1", session: "my.own_2" };
      expect(told({})).toBe("");
      expect(told({ run: "ctx-1" })).toBe("CTX_RUN_ID=ctx-1\n");
      expect(told(names)).toBe("CTX_RUN_ID=ctx-1\nCTX_SESSION=my.own_2\n");
      const all = "CTX_RUN_ID=ctx-1\nCTX_SESSION=my.own_2\nCTX_STEP=0\n";
      expect(told({ ...names, step: 0 })).toBe(all);
      expect(told({ run: "ctx-1", step: 3 })).toBe("CTX_RUN_ID=ctx-1\nCTX_STEP=3\n");
      for (const session of ["a b", "a\n", "", "$(x)"]) {
        expect(() => gateToken({ kind: "program" }, { run: "r", session })).toThrow(TypeError);
      }
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
