// `ctx --version`, and `ctx status` of a tree whose server answers: without node:fs, which takes as
// long to load as either takes to run. Anything out of the ordinary is left to the full command.

import { versionLine } from "../../internal/cli/mod.ts";
import { placesWith, runtimeOfTree } from "../../internal/tree/mod.ts";
import { askServer } from "./status-server.ts";
import { statusText } from "./status-text.ts";

/** The whole output of the command, or undefined when this is not the place to answer it. */
export async function glance(argv: readonly string[]): Promise<string | undefined> {
  const [first, flag, more] = argv;
  if (first === "--version" && flag === undefined) return `${versionLine("ctx")}\n`;
  const plain = flag === undefined || flag === "--json";
  if (first !== "status" || !plain || more !== undefined) return undefined;
  return glanceAtStatus(flag === "--json");
}

async function glanceAtStatus(json: boolean): Promise<string | undefined> {
  const { env } = process;
  // The current folder is left below, so nothing may depend on it; a mounted view is looked for
  // elsewhere.
  if (env["CTX_ROOT"] || !(env["CTX_SOURCE"] ?? "").startsWith("/")) return undefined;
  try {
    const places = placesWith({ env, uid: process.getuid?.() ?? 0 }, () => true);
    const { source, runtime, mode } = places;
    const server = await askServer(() => {
      process.chdir(source);
      process.chdir(runtimeOfTree(runtime, process.cwd()));
    });
    if (server === undefined || server === "silent" || server.faults.length > 0) return undefined;
    return statusText({ source, root: source, runtime, mode, agents: server.agents, server }, json);
  } catch {
    return undefined;
  }
}

/**
 * Writes the whole text and ends the program; a reader that went away is no failure. Returns when it
 * could not be written: the full command then meets the reason and reports it.
 */
export async function answer(text: string): Promise<void> {
  try {
    await Bun.write(Bun.stdout, text);
  } catch (error) {
    if ((error as { code?: string }).code !== "EPIPE") return;
  }
  process.exit(0);
}
