// Can this host make sandboxes. Beside what the settings say, one tiny sandbox is really made: what
// an administrator's policy forbids shows only then.

import { canFence, type HealthFinding, hostProgram, sandboxHealth } from "../bwrap/mod.ts";
import { type Check, failure, warning, well } from "./check.ts";

/** Time for the trial. Past it it counts as failed. */
const trialMsMax = 10_000;

/** Oldest bubblewrap that knows --disable-userns. */
const bwrapVersionMin = [0, 8] as const;

/** Nobody's uid, for the trial as root: with the kernel's uid 0 it would prove nothing. */
const nobodyUid = 65534;

export async function sandboxChecks(): Promise<Check[]> {
  const findings = sandboxHealth();
  const faults = findings.map(fault);
  const bwrap = hostProgram("bwrap");
  if (bwrap === undefined) return faults;
  const version = await bwrapVersion(bwrap);
  // What is known to be broken would only fail once more, for a reason that helps less.
  const known = [...faults, version].some(({ level }) => level === "fail");
  return [...faults, version, ...(known ? [] : [await trial(bwrap)]), fence()];
}

/** Sandboxes are made without it too, since the rest of them does not depend on it. */
function fence(): Check {
  if (canFence()) return well("landlock", "sandboxes cannot hand files to each other");
  const text =
    "the kernel has no Landlock 2: two calls at once can hand each other open folders, past what is read-only in them";
  return warning("landlock", text, "use Linux 5.19 or later, with landlock in its lsm= list");
}

function fault({ level, problem, fix }: HealthFinding): Check {
  return level === "broken" ? failure("sandbox", problem, fix) : warning("network", problem, fix);
}

async function bwrapVersion(bwrap: string): Promise<Check> {
  const { text } = await output([bwrap, "--version"]);
  const [version = ""] = text.trim().split("\n", 1);
  const [, major, minor] = /^bubblewrap ([0-9]+)\.([0-9]+)/.exec(version) ?? [];
  if (major === undefined) {
    const says = version === "" ? "says no version" : `says ${JSON.stringify(version)}`;
    const fix = "install bubblewrap again, for example with apt-get install --reinstall bubblewrap";
    return failure("bubblewrap", `${bwrap} is no bubblewrap: it ${says}`, fix);
  }
  const [wantMajor, wantMinor] = bwrapVersionMin;
  const old =
    Number(major) < wantMajor || (Number(major) === wantMajor && Number(minor) < wantMinor);
  if (!old) return well("bubblewrap", `${version} at ${bwrap}`);
  return failure("bubblewrap", `${version} is too old`, "install bubblewrap 0.8 or newer");
}

/** The namespaces that every sandbox has, around nothing but what `true` needs. */
const trialArguments = [
  ...["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"],
  ...["--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"],
  ...["/bin", "/lib", "/lib64"].flatMap((path) => ["--ro-bind-try", path, path]),
  ...["--proc", "/proc", "--dev", "/dev", "--", "/bin/true"],
];

async function trial(bwrap: string): Promise<Check> {
  const command = [bwrap, ...trialArguments];
  const setpriv = hostProgram("setpriv");
  const root = process.geteuid?.() === 0;
  if (root && setpriv === undefined) return failure("trial", "setpriv is missing, none was made");
  const id = String(nobodyUid);
  const drop = root ? [setpriv as string, "--reuid", id, "--regid", id, "--clear-groups"] : [];
  const { exit, text } = await output([...drop, ...command]);
  if (exit === 0) return well("user namespaces", "a sandbox was made and has ended");
  const reason = text.trim().split("\n", 1)[0] || `it ended with status ${exit}`;
  return failure("user namespaces", `a trial sandbox failed: ${reason}`, adviceFor(reason));
}

function adviceFor(reason: string): string {
  if (/proc/.test(reason)) return "this host masks parts of /proc, as containers do";
  if (/namespace|uid map|Operation not permitted/i.test(reason)) {
    return "allow unprivileged user namespaces (sysctl, AppArmor, or the container's seccomp profile)";
  }
  return "run the same bwrap command by hand to see more";
}

async function output(argv: readonly string[]): Promise<{ exit: number; text: string }> {
  const child = Bun.spawn([...argv], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: {},
    timeout: trialMsMax,
    killSignal: "SIGKILL",
  });
  const [out, err, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { exit, text: out + err };
}
