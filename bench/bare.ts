// The other side of a ratio: a sandbox that bubblewrap makes alone, with the options of ours.

import { bwrapArguments, type SandboxSpec } from "../internal/sandbox/mod.ts";

/** Options that speak to a launcher, each with its descriptor; a bare run has nobody to speak to. */
const launcherOptions = ["--block-fd", "--seccomp"];

/** The host's programs on a system whose /bin and /lib lead into /usr. */
export const usrAlone: SandboxSpec["system"] = {
  binds: [{ host: "/usr", view: "/usr", access: "ro" }],
  links: ["bin", "lib", "lib64", "sbin"].map((name) => ({
    target: `usr/${name}`,
    view: `/${name}`,
  })),
};

export function withoutLauncher(spec: SandboxSpec): string[] {
  const list = bwrapArguments(spec, { block: 0, seccomp: 0, programs: 0 });
  return list.filter(
    (item, at) => !launcherOptions.includes(item) && !launcherOptions.includes(list[at - 1] ?? ""),
  );
}
