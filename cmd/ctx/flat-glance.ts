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
  // The current folder is left below, so no relative name may depend on it.
  const source = env["CTX_SOURCE"];
  if (env["CTX_ROOT"] || (source && !source.startsWith("/"))) return undefined;
  // Where there is a /ctx the full command finds out whether it is a mounted view.
  if (!source && canEnter("/ctx")) return undefined;
  try {
    const places = placesWith({ env, uid: process.getuid?.() ?? 0 }, () => true);
    const { runtime, mode } = places;
    const server = await askServer(() => {
      process.chdir(places.source);
      process.chdir(runtimeOfTree(runtime, process.cwd()));
    });
    if (server === undefined || server === "silent" || server.faults.length > 0) return undefined;
    const root = places.source;
    const agents = [...server.agents].sort();
    return statusText({ source: root, root, runtime, mode, agents, server }, json);
  } catch {
    return undefined;
  }
}

function canEnter(folder: string): boolean {
  try {
    process.chdir(folder);
    return true;
  } catch {
    return false;
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
