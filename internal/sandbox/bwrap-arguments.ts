// From a validated launch to bubblewrap's options, and nothing else: no file is looked at here. The
// order matters: later mounts lie over earlier ones, and the root is made read-only last, when every
// mount point exists. Identity is never `--uid`: from root that would still be the host's uid 0.

import type { Bind, SandboxDescriptors, SandboxSpec } from "./types.ts";

/** Host files that uid 0 of the host may write although it holds no capability. */
const maskedProcPaths = ["/proc/sysrq-trigger", "/proc/irq", "/proc/bus"];

/** Options for `--args FD`; the program to run goes on bubblewrap's own command line. */
export function bwrapArguments(spec: SandboxSpec, descriptors: SandboxDescriptors): string[] {
  return [
    ...["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"],
    ...["--die-with-parent", "--new-session", "--clearenv", "--hostname", "cortexfs"],
    ...spec.system.binds.flatMap(bindArguments),
    ...spec.system.links.flatMap(({ target, view }) => ["--symlink", target, view]),
    ...["--ro-bind", spec.etc, "/etc"],
    ...["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"],
    ...(spec.maskProc ? maskedProcPaths : []).flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--dev", "/dev", "--perms", "1777", "--size", `${spec.shmBytes}`, "--tmpfs", "/dev/shm"],
    ...["--perms", "1777", "--size", `${spec.tmpBytes}`, "--tmpfs", "/tmp"],
    ...["--perms", "0755", "--dir", "/run", "--ro-bind", spec.view, "/ctx"],
    ...spec.programs.flatMap(({ view }, index) => [
      ...["--perms", "0555", "--ro-bind-data", `${descriptors.programs + index}`, view],
    ]),
    ...spec.binds.flatMap(bindArguments),
    ...["--remount-ro", "/dev", "--remount-ro", "/"],
    ...[...spec.env].flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", spec.cwd],
    ...["--block-fd", `${descriptors.block}`, "--seccomp", `${descriptors.seccomp}`],
  ];
}

function bindArguments(bind: Bind): string[] {
  return [bind.access === "ro" ? "--ro-bind" : "--bind", bind.host, bind.view];
}

/** The form in which bubblewrap reads options from a descriptor: each ends in a NUL. */
export function encodeArguments(list: readonly string[]): Uint8Array {
  return new TextEncoder().encode(list.map((item) => `${item}\0`).join(""));
}
