// A whole launch spec for tests that need no agent: the host's /usr, and folders `etc`, `ctx` and
// `work` below `base`.

import type { SandboxSpec } from "../../internal/sandbox/mod.ts";

export function plainSpec(base: string, change: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    system: {
      binds: [{ host: "/usr", view: "/usr", access: "ro" }],
      links: ["bin", "lib", "lib64", "sbin"].map((name) => ({
        target: `usr/${name}`,
        view: `/${name}`,
      })),
    },
    etc: `${base}/etc`,
    view: `${base}/ctx`,
    programs: [],
    binds: [{ host: `${base}/work`, view: "/workspace", access: "rw" }],
    cwd: "/workspace",
    env: new Map([["HOME", "/home/agent"]]),
    network: "none",
    maskProc: false,
    tmpBytes: 512 * 1024 * 1024,
    shmBytes: 64 * 1024 * 1024,
    ...change,
  };
}
