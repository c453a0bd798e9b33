// `ctxd launch`: the parent of one terminal's sandbox, started by the server and outliving it.

import { fail, quoted } from "../../internal/abi/mod.ts";
import { parseFlags, printRaw } from "../../internal/cli/mod.ts";
import { runLaunch } from "../../internal/supervise/mod.ts";

const help = `Usage: ctxd launch --socket PATH --ticket TICKET

Carries out one terminal for the server that listens at PATH. Started by ctxd; of no use by hand.

Options:
  --socket PATH      the server's launch.sock
  --ticket TICKET    which launch this is

Example:
  ctxd launch --socket /run/cortexfs/tree-0123456789abcdef/launch.sock --ticket 00112233445566778899aabbccddeeff
`;

export async function run(argv: readonly string[]): Promise<number> {
  const flags = parseFlags(argv, { help: "switch", socket: "value", ticket: "value" });
  if (flags.on.has("help")) {
    printRaw(help);
    return 0;
  }
  const [extra] = flags.words;
  if (extra !== undefined) fail("EINVAL", `"ctxd launch" takes no argument ${quoted(extra)}`);
  const server = flags.value.get("socket");
  const ticket = flags.value.get("ticket");
  if (server === undefined || ticket === undefined) {
    fail("EINVAL", "--socket and --ticket are missing", { hint: "ctxd starts this by itself" });
  }
  process.title = "ctxd launch";
  process.chdir("/");
  process.umask(0o077);
  const stop = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => stop.abort());
  // Nobody's hangup ends a terminal.
  process.on("SIGHUP", () => {});
  await runLaunch({ server, ticket, signal: stop.signal });
  return 0;
}
