// `ctx status`: what is served here and whether it runs. Talks to the control socket by itself, since
// the checked client costs more at start than this whole command: nothing secret is sent, and what
// comes back is only shown.

import { readdirSync, statSync } from "node:fs";
import { coded, fail } from "../../internal/abi/mod.ts";
import { everyCommandFlags, parseFlags, print, printJson } from "../../internal/cli/mod.ts";
import { resolvePlaces, treeRuntime } from "../../internal/tree/mod.ts";
import { rootOf } from "./root.ts";

export const help = `Usage: ctx status [--json]

Shows the tree, its agents, and whether ctxd serves it. Never starts anything.

Options:
  --json         One JSON object
  --source DIR   Source tree (default: CTX_SOURCE)
  --root DIR     View of the tree (default: CTX_ROOT)

Example:
  ctx status --json
`;

/** Time for the server's answer. Past it it is shown as not answering. */
const answerMs = 2000;

/** One answer of the server. Past it it is shown as not answering. */
const answerBytesMax = 1024 * 1024;

interface ServerFacts {
  readonly pid: number;
  readonly version: string;
  readonly sessions: { readonly open: number; readonly running: number; readonly queued: number };
  readonly faults: readonly { readonly agent: string; readonly message: string }[];
}

export async function runFast(argv: readonly string[]): Promise<number> {
  const flags = parseFlags(argv, everyCommandFlags);
  if (flags.words.length > 0)
    fail("EINVAL", "status takes no words", { hint: "see ctx status --help" });
  const source = flags.value.get("source");
  const uid = process.getuid?.() ?? 0;
  const places = resolvePlaces({ source, env: process.env, uid });
  const root = rootOf(flags.value.get("root"), source);
  const agents = agentNames(places.source);
  const server = await askServer(treeRuntime(places));
  if (flags.on.has("json")) {
    const { mode, runtime } = places;
    printJson({ source: places.source, root, runtime, mode, agents, server: server ?? null });
    return 0;
  }
  print(`source   ${places.source}`);
  if (root !== places.source) print(`view     ${root}`);
  print(`runtime  ${places.runtime} (${places.mode} mode)`);
  print(`agents   ${agents.join(" ") || "none"}`);
  if (server === undefined) print("server   not running");
  else if (server === "silent") print("server   not answering: it is stopped or stuck");
  else {
    print(`server   ${serverLine(server)}`);
    for (const { agent, message } of server.faults) print(`fault    ${agent}: ${message}`);
  }
  return 0;
}

function serverLine({ pid, version, sessions }: ServerFacts): string {
  const { open, running, queued } = sessions;
  return `running, pid ${pid}, version ${version}; sessions: ${open} open, ${running} running, ${queued} queued`;
}

/** Names of agents by their control folders. ENOENT where no tree is. */
function agentNames(source: string): string[] {
  try {
    const found = readdirSync(`${source}/agent`).filter((name) => name.endsWith(".d"));
    statSync(`${source}/tool`);
    return found.map((name) => name.slice(0, -2)).sort();
  } catch (error) {
    const { code, message } = coded(error);
    if (code === "ENOENT") {
      const hint = `run ctx bootstrap ${JSON.stringify(source)}`;
      return fail("ENOENT", `cannot find tree ${JSON.stringify(source)}`, { hint });
    }
    return fail(code, `cannot open tree ${JSON.stringify(source)}: ${message}`, { cause: error });
  }
}

/** Undefined when nobody listens, "silent" when nothing useful is said. Enters the folder: a socket's whole path may be too long to use. */
async function askServer(runtime: string): Promise<ServerFacts | "silent" | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(""), answerMs);
  const decoder = new TextDecoder();
  let text = "";
  try {
    process.chdir(runtime);
    const socket = await Bun.connect({
      unix: "./ctxd.sock",
      socket: {
        data(_socket, chunk) {
          text += decoder.decode(chunk, { stream: true });
          if (text.includes("\n") || text.length > answerBytesMax) resolve(text);
        },
        close: () => resolve(text),
        error: () => resolve(""),
      },
    });
    socket.write('{"op":"ping"}\n');
    const answer = await promise;
    socket.terminate();
    return parseAnswer(answer) ?? "silent";
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function parseAnswer(text: string): ServerFacts | undefined {
  try {
    const value = JSON.parse(text) as Partial<ServerFacts> & { type?: string };
    return value.type === "pong" && value.sessions ? (value as ServerFacts) : undefined;
  } catch {
    return undefined;
  }
}
