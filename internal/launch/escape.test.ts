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
import type { Scene } from "../../testdata/sandbox/scene.ts";
import { canFence } from "../bwrap/mod.ts";

const probes = new URL("../../testdata/sandbox/probes.py", import.meta.url).pathname;
const python = "/usr/bin/python3";
const missing = existsSync(python) ? whyNot() : `there is no ${python}`;
if (missing !== undefined) console.log(`SKIP escapes: ${missing}`);

/** The probe writes half a gigabyte and forks until it may not. */
const probeMsMax = 180_000;

/** Name of a probe to what must come of it; a function gets the text. */
const refusedCalls: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["keyctl", "ptrace", "process_vm_readv", "pidfd_getfd", "userfaultfd", "perf_event_open"]
      .concat(["bpf", "mount", "umount2", "open_tree", "move_mount", "fsopen", "fsmount"])
      .concat(["mount_setattr", "kexec_load", "open_by_handle_at", "syslog"])
      .concat(["TIOCSTI", "TIOCSTI with high bits", "TIOCLINUX", "unshare mount"])
      .map((name) => [name, "EPERM"]),
  ),
  "unshare user": "ENOSPC",
  io_uring_setup: "ENOSYS",
};

const refusedSockets = Object.fromEntries(
  ["socket inet", "socket inet6", "socket packet", "socket vsock", "socket netlink route"]
    .concat(["socket netlink audit", "socket alg", "socket bluetooth", "socketpair inet"])
    .map((name) => [name, "EAFNOSUPPORT"]),
);

/** A socket in a folder that sandboxes share would hand open folders from one to the other. */
const sharedSockets = Object.fromEntries(
  [
    ["/workspace", canFence() ? "EACCES" : "allowed"],
    ["/home/agent", canFence() ? "EACCES" : "allowed"],
    ["/tmp", "allowed"],
    ["/dev/shm", "allowed"],
  ].flatMap(([folder, what]) => [
    [`make a socket in ${folder}`, what],
    [`make a socket node in ${folder}`, what],
    [`move between folders of ${folder}`, "allowed"],
  ]),
) as Readonly<Record<string, string>>;

const refusedFiles: Readonly<Record<string, string>> = {
  "append to events.jsonl": "EROFS",
  "unlink events.jsonl": "EROFS",
  "move events.jsonl": "EXDEV",
  "link over events.jsonl": "EROFS",
  "move session": "EBUSY",
  "fill /big": "EROFS",
  "fill /dev/big": "EROFS",
  "fill /run/big": "EROFS",
  "fill /dev/shm/big": "ENOSPC",
  "fill /tmp/big": "ENOSPC",
  shadow: "ENOENT",
  "symlink out": "ENOENT",
  "symlink through root of 1": canFence() ? "EACCES" : "ENOENT",
  "write .git": "EROFS",
  "make a hook": "EROFS",
  "move .git": "EBUSY",
  "create /usr/mine": "EROFS",
  "create /etc/mine": "EROFS",
  "create /ctx/mine": "EROFS",
  "create /ctx/tool/mine": "EROFS",
  "create /proc/mine": "ENOENT",
  "create /mine": "EROFS",
};

const facts: Readonly<Record<string, string>> = {
  capabilities: "none",
  no_new_privs: "1",
  seccomp: "2",
  // Empty where it can be read; behind the fence what is in front of it cannot.
  "environ of 1": canFence() ? "EACCES" : "0",
  "cmdline of 1": "[b'/usr/bin/bwrap', b'--args', b'3', b'--']",
  descriptors: "[0, 1, 2]",
  processes: "['bwrap', 'python3']",
  hostname: "cortexfs",
  "secret of the caller": "unseen",
  limits: "['0', '256', '1024']",
  "socket unix": "allowed",
  "socketpair unix": "allowed",
  "abstract socket of the host": "ECONNREFUSED",
  "sockets in the view": "[]",
  run: "[]",
  "write in home": "allowed",
  "write in workspace": "allowed",
  "fill /tmp a little": "allowed",
  tools: "['shell.exec', 'shell.exec.d']",
  "make a device": "EPERM",
  forks: "EAGAIN before 600",
};

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

    const expected = {
      ...facts,
      ...refusedCalls,
      ...refusedSockets,
      ...sharedSockets,
      ...refusedFiles,
    };
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
