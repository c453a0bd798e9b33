// The fence as a program: what it lets its followers do, and that it fails shut.

import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canFence } from "../bwrap/mod.ts";
import { fenceFailedStatus, fenceProgram } from "./fence.ts";

const architecture = process.arch === "arm64" ? "arm64" : "x64";
const python = "/usr/bin/python3";
const missing = canFence() ? undefined : "this kernel has no Landlock";
if (missing !== undefined) console.log(`SKIP the fence: ${missing}`);

/** Not below /tmp, where sockets are allowed. */
const folder = mkdtempSync("/var/tmp/ctx-fence-");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, "fence");
writeFileSync(file, fenceProgram(architecture, 7));
chmodSync(file, 0o755);

/** no_new_privs is what lets a process fence itself in; bubblewrap sets it. */
const fenced = (program: readonly string[], before = ["setpriv", "--no-new-privs"]) =>
  Bun.spawnSync([...before, file, ...program], { env: { GIVEN: "kept" }, cwd: folder });

describe.skipIf(missing !== undefined)("the fence", () => {
  test("becomes the program with its arguments and environment, and leaves no descriptor", () => {
    const script = 'echo "$0|$1|$2|$GIVEN"; ls -l /proc/self/fd | grep -c fence; exit 7';
    const { exitCode, stdout } = fenced(["/bin/sh", "-c", script, "name", "a b", ""]);
    expect([exitCode, stdout.toString()]).toEqual([7, "name|a b||kept\n0\n"]);
  });

  test("keeps sockets to /tmp and /dev/shm, and forbids nothing else", () => {
    const source = [
      "import os, socket, sys",
      "def bind(path):",
      "  try: socket.socket(socket.AF_UNIX).bind(path); os.unlink(path); print('allowed')",
      "  except OSError as error: print(error.strerror)",
      "for at in ('here.sock', '/tmp/' + sys.argv[1], '/dev/shm/' + sys.argv[1]): bind(at)",
      "os.mkdir('a'); os.mkdir('b'); open('a/x', 'w').close(); os.mkfifo('a/fifo')",
      "os.rename('a/x', 'b/x'); os.link('b/x', 'a/x'); os.symlink('x', 'a/y'); print('moved')",
    ].join("\n");
    const { stdout, stderr } = fenced([python, "-c", source, `fence-${process.pid}.sock`]);
    expect(stderr.toString()).toBe("");
    expect(stdout.toString()).toBe("Permission denied\nallowed\nallowed\nmoved\n");
  });

  test("lets nothing run when it cannot be put up", () => {
    // Without no_new_privs and without privilege the kernel refuses it.
    const root = process.getuid?.() === 0;
    const before = root ? ["setpriv", "--reuid", "65534", "--clear-groups"] : ["env"];
    chmodSync(folder, 0o755);
    const { exitCode, stdout } = fenced(["/bin/echo", "ran"], before);
    expect([exitCode, stdout.toString()]).toEqual([fenceFailedStatus, ""]);
  });
});

test("the file for each architecture says so, and holds whole instructions", () => {
  for (const [name, machine] of [
    ["x64", 62],
    ["arm64", 183],
  ] as const) {
    const bytes = fenceProgram(name, 7);
    const view = new DataView(bytes.buffer);
    expect([name, view.getUint16(18, true)]).toEqual([name, machine]);
    expect(view.getBigUint64(96, true)).toBe(BigInt(bytes.length));
    const code = Number(view.getBigUint64(24, true)) - 0x400000;
    expect([code % 8, name === "arm64" ? (bytes.length - code) % 4 : 0]).toEqual([0, 0]);
  }
});
