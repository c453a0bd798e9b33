// `ctx status`: what is served here and whether it runs. Talks to the control socket by itself, since
// the checked client costs more at start than this whole command: nothing secret is sent, and what
// comes back is only shown.

import { readdirSync, statSync } from "node:fs";
import { coded, fail } from "../../internal/abi/mod.ts";
import { everyCommandFlags, parseFlags, printRaw } from "../../internal/cli/mod.ts";
import { resolvePlaces, treeRuntime } from "../../internal/tree/mod.ts";
import { rootOf } from "./root.ts";
import { askServer } from "./status-server.ts";
import { statusText } from "./status-text.ts";

export const help = `Usage: ctx status [--json]

Shows the tree, its agents, and whether ctxd serves it. Never starts anything.

Options:
  --json         One JSON object
  --source DIR   Source tree (default: CTX_SOURCE)
  --root DIR     View of the tree (default: CTX_ROOT)

Example:
  ctx status --json
`;

export async function runFast(argv: readonly string[]): Promise<number> {
  const flags = parseFlags(argv, everyCommandFlags);
  if (flags.words.length > 0)
    fail("EINVAL", "status takes no words", { hint: "see ctx status --help" });
  const source = flags.value.get("source");
  const uid = process.getuid?.() ?? 0;
  const places = resolvePlaces({ source, env: process.env, uid });
  const root = rootOf(flags.value.get("root"), source);
  const agents = agentNames(places.source);
  const server = await askServer(() => process.chdir(treeRuntime(places)));
  const { mode, runtime } = places;
  const facts = { source: places.source, root, runtime, mode, agents, server };
  printRaw(statusText(facts, flags.on.has("json")));
  return 0;
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
