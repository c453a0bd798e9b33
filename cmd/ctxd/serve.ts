// `ctxd serve`: one server in the foreground until a signal stops it.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { coded, fail, quoted } from "../../internal/abi/mod.ts";
import { onInterrupt, parseFlags, printRaw } from "../../internal/cli/mod.ts";
import {
  compileLess,
  createLog,
  createNotifier,
  type Daemon,
  type Log,
  loadSettings,
  type Notifier,
  serve,
} from "../../internal/daemon/mod.ts";
import { resolvePlaces } from "../../internal/tree/mod.ts";

const help = `Usage: ctxd serve [--source TREE] [--set KEY=VALUE]... [--foreground]

Serves the agents of a tree until SIGTERM or SIGINT; a second signal ends at once. SIGHUP looks for
new and changed agents. The log is JSON lines on stderr.

Options:
  --source TREE      the tree, else CTX_SOURCE, else the user's own
  --set KEY=VALUE    a setting over those of ctxd.conf: record=arguments|digest,
                     root_agents=deny|allow, model_steps, launches_parallel,
                     session_idle_ms, tool_timeout_ms, step_timeout_ms,
                     approval_timeout_ms; for terminals under systemd, 0 for none:
                     terminal_memory_mib, terminal_tasks, terminal_cpu_percent
  --foreground       stay in the foreground; it always does, for units that say so

Examples:
  ctxd serve
  ctxd serve --source /srv/tree --set record=digest
`;

/** Exit status after a second signal: 128 + SIGTERM would claim that the signal killed it. */
const impatientExit = 1;

export async function run(argv: readonly string[]): Promise<number> {
  const { sets, rest } = takeSets(argv);
  const flags = parseFlags(rest, { help: "switch", source: "value", foreground: "switch" });
  if (flags.on.has("help")) {
    printRaw(help);
    return 0;
  }
  const [extra] = flags.words;
  if (extra !== undefined) fail("EINVAL", `"ctxd serve" takes no argument ${quoted(extra)}`);
  compileLess();
  const notifier = createNotifier(process.env);
  const log = createLog();
  process.title = "ctxd";
  let daemon: Daemon;
  try {
    const places = resolvePlaces({
      source: flags.value.get("source"),
      env: process.env,
      uid: process.getuid?.() ?? 0,
    });
    const settings = loadSettings(places.config, sets);
    const { XDG_RUNTIME_DIR, DBUS_SESSION_BUS_ADDRESS } = process.env;
    forgetEnvironment();
    process.chdir("/");
    process.umask(0o022);
    daemon = await serve({
      ...{ places, settings, log },
      ctxBinary: findProgram(places.source, "ctx"),
      ctxd: ownCommand(places.source),
      login: { XDG_RUNTIME_DIR, DBUS_SESSION_BUS_ADDRESS },
    });
  } catch (error) {
    notifier.failed(coded(error));
    throw error;
  }
  onSignals(daemon, notifier, log);
  log("ready", { pid: process.pid });
  notifier.ready();
  await daemon.stopped;
  return 0;
}

/** `--set` may be given many times; the common parser keeps one value. */
function takeSets(argv: readonly string[]): { sets: string[]; rest: string[] } {
  const sets: string[] = [];
  const rest: string[] = [];
  const items = argv[Symbol.iterator]();
  for (const item of items) {
    if (item.startsWith("--set=")) sets.push(item.slice("--set=".length));
    else if (item === "--set") sets.push(items.next().value ?? "");
    else rest.push(item);
  }
  return { sets, rest };
}

/** What a server was started with is nobody's business later, least of all a child's. */
function forgetEnvironment(): void {
  const needed = /^(PATH|HOME|LANG|TZ)$/;
  for (const name of Object.keys(process.env)) {
    if (!needed.test(name)) delete process.env[name];
  }
}

/**
 * A program as agents' uids can reach it: the tree's own, since its objects name it; the folder of this
 * program may be closed to them.
 */
function findProgram(source: string, name: string): string {
  const own = join(source, "bin", name);
  return existsSync(own) ? own : join(dirname(process.execPath), name);
}

/** How ctxd starts itself; from its sources by way of the runtime. */
function ownCommand(source: string): string[] {
  const isCompiled = Bun.main.startsWith("/$bunfs/");
  return isCompiled ? [findProgram(source, "ctxd")] : [process.execPath, Bun.main];
}

function onSignals(daemon: Daemon, notifier: Notifier, log: Log): void {
  let asked = false;
  const stop = () => {
    if (asked) process.exit(impatientExit);
    asked = true;
    notifier.stopping();
    void daemon.stop();
  };
  onInterrupt(stop);
  process.on("SIGTERM", stop);
  process.on("SIGHUP", () => {
    try {
      daemon.rescan();
    } catch (error) {
      log("rescan.failed", { code: coded(error).code, message: coded(error).message });
    }
  });
}
