// A real systemd, booted in about a second in an overlay over this machine's own files, for tests of
// what systemd does with our programs. Needs root. Everything in it is of one PID namespace whose first
// process dies with the thread that made it, so nothing is left also after SIGKILL or SIGINT of a test.

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Finished } from "../e2e/world.ts";
import { makeGroups, removeGroups } from "./groups.ts";

/** From nothing to a user's manager that answers: a second on an idle machine. */
const bootMsMax = 60_000;

/** One command inside. */
const commandMsMax = 30_000;

/** Where the exchange folder is seen inside. */
const exchange = "/ctx-boot";

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

const needed = ["systemd-nspawn", "systemd-run", "loginctl", "unshare", "nsenter", "setpriv"];

export interface Account {
  readonly name: string;
  readonly uid: number;
}

export interface BootOptions {
  readonly accounts: readonly Account[];
  /** Further groups by name. */
  readonly groups?: Readonly<
    Record<string, { readonly gid: number; readonly members: readonly string[] }>
  >;
  /** Whose manager runs from the start, as if logged in; others' start with a login. */
  readonly managers: readonly number[];
  /** Host folders by the path at which they are seen inside, read-only. */
  readonly folders: Readonly<Record<string, string>>;
  /** Further files, by their path inside; their owner is root. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface CommandOptions {
  readonly uid?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly ms?: number;
}

/** A sentence that says why no systemd can be booted here, or undefined when it is worth a try. */
export function whyNoBoot(): string | undefined {
  if (process.getuid?.() !== 0) return "booting a systemd needs root";
  const missing = needed.filter((name) => Bun.which(name, { PATH: path }) === null);
  if (missing.length > 0) return `missing programs: ${missing.join(" ")} (systemd-container)`;
  // Both come with a user's manager: its bus, and what starts it at login.
  if (!existsSync("/usr/lib/systemd/user/dbus.socket")) return "dbus-user-session is missing";
  if (!pamModule()) return "libpam-systemd is missing";
  return undefined;
}

/** In /usr/lib/security, or below a folder named for the architecture. */
function pamModule(): boolean {
  const folders = ["", ...readdirSync("/usr/lib")];
  return folders.some((name) => existsSync(join("/usr/lib", name, "security/pam_systemd.so")));
}

export class Booted {
  readonly #base: string;
  readonly #child: ReturnType<typeof Bun.spawn>;
  readonly #groups: readonly string[];
  /** Host pid of the booted systemd. */
  readonly leader: number;

  private constructor(base: string, child: ReturnType<typeof Bun.spawn>, groups: string[]) {
    this.#base = base;
    this.#child = child;
    this.#groups = groups;
    this.leader = leaderOf(child.pid);
  }

  /** The reason, as text, when this machine does not let one boot. */
  static async boot(options: BootOptions): Promise<Booted | string> {
    const why = whyNoBoot();
    if (why !== undefined) return why;
    removeStale();
    const base = mkdtempSync(`/tmp/ctx-boot-${process.pid}-`);
    chmodSync(base, 0o755);
    let groups: string[];
    try {
      groups = makeGroups();
    } catch (error) {
      rmSync(base, { recursive: true, force: true });
      return `no control group can be made here: ${(error as Error).message}`;
    }
    stage(base, options);
    const fifo = join(base, "exchange/ready");
    Bun.spawnSync(["mkfifo", "-m", "0600", fifo]);
    const log = Bun.file(join(base, "log"));
    const child = Bun.spawn(bootCommand(base, groups, options), {
      stdio: ["ignore", log, log],
      env: { PATH: path, LANG: "C.UTF-8" },
    });
    const waiting = Bun.spawn(["cat", fifo], {
      stdio: ["ignore", "pipe", "ignore"],
      timeout: bootMsMax,
      killSignal: "SIGKILL",
    });
    const first = await Promise.race([
      waiting.exited.then((status) => (status === 0 ? "ready" : "late")),
      child.exited.then(() => "ended"),
    ]);
    waiting.kill("SIGKILL");
    if (first === "ready") return new Booted(base, child, groups);
    child.kill("SIGKILL");
    await child.exited;
    const said = readFileSync(join(base, "log"), "utf8").trim().split("\n").slice(-3).join(" | ");
    await cleanUp(base, groups);
    return `a systemd does not boot here (${first}): ${said}`;
  }

  /** Runs a command inside to its end, as root or as a user with their manager's environment. */
  async run(argv: readonly string[], options: CommandOptions = {}): Promise<Finished> {
    const child = Bun.spawn(this.command(argv, options), {
      env: {},
      stdio: ["ignore", "pipe", "pipe"],
      timeout: options.ms ?? commandMsMax,
      killSignal: "SIGKILL",
    });
    const [stdout, stderr, exit] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { exit, stdout, stderr };
  }

  /** The same as a command line of the host, for a caller that wants the streams. */
  command(argv: readonly string[], options: CommandOptions = {}): string[] {
    const uid = options.uid ?? 0;
    const enter = ["nsenter", "--target", String(this.leader), "--all"];
    const as = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups"];
    const env = { ...userEnvironment(uid), ...options.env };
    const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const set = ["env", "-i", `--chdir=${options.cwd ?? "/"}`, ...words];
    return [...enter, "--", ...(uid === 0 ? [] : as), ...set, ...argv];
  }

  /** A path inside, as the host sees it. */
  outside(inside: string): string {
    return `/proc/${this.leader}/root${inside}`;
  }

  /** Ends all of it; safe to call twice. */
  async end(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
    await cleanUp(this.#base, this.#groups);
  }
}

function userEnvironment(uid: number): Record<string, string> {
  const base = { PATH: path, LANG: "C.UTF-8" };
  if (uid === 0) return base;
  const runtime = `/run/user/${uid}`;
  return {
    ...base,
    XDG_RUNTIME_DIR: runtime,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${runtime}/bus`,
  };
}

function bootCommand(base: string, groups: readonly string[], options: BootOptions): string[] {
  const folders = Object.entries(options.folders).map(
    ([inside, folder]) => `--bind-ro=${folder}:${inside}`,
  );
  return [
    // The first process of the namespace dies with unshare, and unshare with this program.
    ...["setpriv", "--pdeathsig=KILL"],
    ...["unshare", "--mount", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"],
    ...["sh", resolve(import.meta.dir, "boot.sh")],
    ...[join(base, "work"), join(base, "stage"), ...groups, "--"],
    ...[`--bind=${join(base, "exchange")}:${exchange}`, ...folders],
    "systemd.unit=ctx-boot.target",
  ];
}

function stage(base: string, options: BootOptions): void {
  for (const name of ["work", "exchange", "stage"]) mkdirSync(join(base, name));
  const put = (file: string, text: string) => {
    const target = join(base, "stage", file);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  };
  const lines = (file: string, of: (account: Account) => string) =>
    `${readFileSync(file, "utf8")}${options.accounts.map((one) => `${of(one)}\n`).join("")}`;
  put("etc/machine-id", "");
  put(
    "etc/passwd",
    lines("/etc/passwd", ({ name, uid }) => `${name}:x:${uid}:${uid}::/home/${name}:/bin/sh`),
  );
  const further = Object.entries(options.groups ?? {}).map(
    ([name, { gid, members }]) => `${name}:x:${gid}:${members.join(",")}\n`,
  );
  const groups = lines("/etc/group", ({ name, uid }) => `${name}:x:${uid}:`);
  put("etc/group", groups + further.join(""));
  put(
    "etc/shadow",
    lines("/etc/shadow", ({ name }) => `${name}:*:19000:0:99999:7:::`),
  );
  chmodSync(join(base, "stage/etc/shadow"), 0o600);
  for (const { name, uid } of options.accounts) {
    const home = join(base, "stage/home", name);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    chownSync(home, uid, uid);
  }
  // With this folder the journal keeps users' lines apart, readable for each.
  mkdirSync(join(base, "stage/var/log/journal"), { recursive: true });
  // A manager without a session goes at once, not after ten seconds.
  put("etc/systemd/logind.conf.d/ctx.conf", "[Login]\nUserStopDelaySec=0\n");
  const wants = ["systemd-logind.service", ...options.managers.map((uid) => `user@${uid}.service`)];
  put(
    "etc/systemd/system/ctx-boot.target",
    "[Unit]\nRequires=basic.target\nWants=ctx-ready.service\n",
  );
  put(
    "etc/systemd/system/ctx-ready.service",
    [
      `[Unit]\nWants=${wants.join(" ")}\nAfter=basic.target ${wants.join(" ")}`,
      // nspawn has it read-only, which keeps the boot from setting this machine's kernel; from here on
      // it is as on a host, since bubblewrap writes the limits of its own user namespaces there.
      "[Service]\nType=oneshot\nExecStartPre=/bin/mount -o remount,bind,rw /proc/sys",
      `ExecStart=/bin/sh -c 'echo ready >${exchange}/ready'\n`,
    ].join("\n"),
  );
  for (const [file, text] of Object.entries(options.files ?? {})) put(file, text);
}

/** Host pid of the process that nspawn booted: nspawn itself took the place of the shell. */
function leaderOf(unshare: number): number {
  const nspawn = childrenOf(unshare)[0] ?? 0;
  const leader = childrenOf(nspawn).find((pid) => /^systemd$/m.test(readComm(pid)));
  if (leader === undefined) throw new Error("the booted systemd is not to be found");
  return leader;
}

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
  return text === "" ? [] : text.split(" ").map(Number);
}

function readComm(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
}

/** Folders of tests that were killed: small, since what was written inside was in memory. */
function removeStale(): void {
  for (const name of readdirSync("/tmp")) {
    const [, pid] = /^ctx-boot-([0-9]+)-/.exec(name) ?? [];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    rmSync(join("/tmp", name), { recursive: true, force: true });
  }
}

async function cleanUp(base: string, groups: readonly string[]): Promise<void> {
  // The kernel ends the namespace's processes after the first; their groups are theirs until then.
  const until = Date.now() + 5000;
  const there = () => groups.filter((group) => existsSync(group));
  groups.forEach(removeGroups);
  while (there().length > 0 && Date.now() < until) {
    await Bun.sleep(20);
    groups.forEach(removeGroups);
  }
  rmSync(base, { recursive: true, force: true });
}
