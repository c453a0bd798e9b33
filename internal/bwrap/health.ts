// Why a sandbox cannot be made on this host, and what to do about it. `ctx doctor` asks before, a
// failed launch asks after. There is no fallback without a sandbox.

import { readFileSync } from "node:fs";
import { type Code, CodedError } from "../abi/mod.ts";
import { debianPackages, type HostProgram, hostProgram } from "./programs.ts";

export interface HealthFinding {
  /** `broken`: no tool can run. `limited`: one feature is missing. */
  readonly level: "broken" | "limited";
  readonly problem: string;
  readonly fix: string;
}

interface KernelSetting {
  readonly file: string;
  readonly bad: (value: string) => boolean;
  readonly problem: string;
  readonly fix: string;
}

const kernelSettings: readonly KernelSetting[] = [
  {
    file: "/proc/sys/kernel/unprivileged_userns_clone",
    bad: (value) => value === "0",
    problem: "user namespaces are disabled (kernel.unprivileged_userns_clone is 0)",
    fix: "sysctl kernel.unprivileged_userns_clone=1, and the same in /etc/sysctl.d",
  },
  {
    file: "/proc/sys/user/max_user_namespaces",
    bad: (value) => value === "0",
    problem: "user namespaces are disabled (user.max_user_namespaces is 0)",
    fix: "sysctl user.max_user_namespaces=15000, and the same in /etc/sysctl.d",
  },
  {
    file: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    bad: (value) => value === "1",
    problem:
      "AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
    fix: "give /usr/bin/bwrap an AppArmor profile with `userns,`, or set the sysctl to 0",
  },
];

/** Everything that stands in the way, worst first; empty on a healthy host. */
export function sandboxHealth(
  look: { program(name: HostProgram): string | undefined; setting(file: string): string } = host,
): HealthFinding[] {
  const findings: HealthFinding[] = [];
  const needed: readonly HostProgram[] = ["bwrap", "setpriv", "nsenter"];
  for (const name of needed) {
    if (look.program(name) !== undefined) continue;
    findings.push({
      level: "broken",
      problem: `${name === "bwrap" ? "bubblewrap (bwrap)" : name} is not installed`,
      fix: `apt-get install ${debianPackages[name]}`,
    });
  }
  for (const { file, bad, problem, fix } of kernelSettings) {
    if (bad(look.setting(file))) findings.push({ level: "broken", problem, fix });
  }
  if (look.program("pasta") === undefined && look.program("slirp4netns") === undefined) {
    const problem = "neither pasta nor slirp4netns is installed: agents cannot be given a network";
    findings.push({ level: "limited", problem, fix: `apt-get install ${debianPackages.pasta}` });
  }
  return findings;
}

const host = {
  program: hostProgram,
  setting(file: string): string {
    try {
      return readFileSync(file, "utf8").trim();
    } catch {
      return "";
    }
  },
};

/** Turns bubblewrap's end before the gate stood into an error that says what to do. */
export function explainFailure(status: number, complaint: string): CodedError {
  const text = complaint.replace(/^bwrap: /, "") || `bubblewrap ended with status ${status}`;
  const cause = sandboxHealth().find((finding) => finding.level === "broken");
  if (cause !== undefined) {
    return new CodedError("EHOSTDOWN", `cannot make a sandbox: ${cause.problem} (${text})`, {
      hint: cause.fix,
    });
  }
  if (/Can't mount proc/.test(text)) {
    return new CodedError("EHOSTDOWN", `cannot make a sandbox: ${text}`, {
      hint: "this host masks parts of /proc, as containers do; run ctxd where /proc is whole",
    });
  }
  return new CodedError(codeOf(text), `cannot make a sandbox: ${text}`);
}

function codeOf(text: string): Code {
  if (/No such file or directory|Not a directory/.test(text)) return "ENOENT";
  if (/Permission denied|Read-only file system/.test(text)) return "EACCES";
  if (/Resource temporarily unavailable|Cannot allocate/.test(text)) return "busy";
  return "EHOSTDOWN";
}
