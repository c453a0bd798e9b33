// The folders and the control socket of one server, and the look whether somebody else serves the
// same tree from another runtime folder.

import { closeSync } from "node:fs";
import { join } from "node:path";
import { CodedError, fail } from "../abi/mod.ts";
import { openPath } from "../os/mod.ts";
import { connectLines } from "../sock/mod.ts";
import {
  agentNames,
  ensureRuntimeFolder,
  type Places,
  type Tree,
  treeRuntime,
} from "../tree/mod.ts";
import { readAlias } from "./aliases.ts";

export interface RuntimeFolders {
  readonly tree: string;
  readonly agents: string;
}

/** In system mode others may pass through to their agents' sockets, which are theirs alone. */
export function makeRuntimeFolders(places: Places): RuntimeFolders {
  const system = places.mode === "system";
  const tree = treeRuntime(places);
  const agents = join(tree, "agent");
  ensureRuntimeFolder(places.runtime, system ? 0o755 : 0o700);
  ensureRuntimeFolder(tree, system ? 0o711 : 0o700);
  ensureRuntimeFolder(agents, system ? 0o711 : 0o700);
  return { tree, agents };
}

/** Runs `use` with a descriptor of the folder, which stays open as long as the result says. */
export function withFolder<T>(
  path: string,
  use: (folder: number) => T,
): { value: T; close(): void } {
  const folder = openPath(path, "folder");
  try {
    return { value: use(folder), close: () => closeSync(folder) };
  } catch (error) {
    closeSync(folder);
    throw error;
  }
}

/**
 * Two runtime folders have two locks. When an agent's alias leads to a server that answers from
 * another one, that server has the tree: `session_locked` with its pid.
 */
export async function refuseForeignServer(tree: Tree, folders: RuntimeFolders): Promise<void> {
  for (const agent of agentNames(tree)) {
    const target = readAlias(tree, agent);
    if (target === undefined || target === join(folders.agents, `${agent}.sock`)) continue;
    const pid = await answers(target);
    if (pid === undefined) continue;
    fail("session_locked", `cannot serve tree "${tree.source}": pid ${pid} serves it already`, {
      hint: "use that server, or stop it first",
    });
  }
}

async function answers(path: string): Promise<number | undefined> {
  try {
    // Whoever it is: nothing is said, only the peer's pid is looked at.
    const connection = await connectLines({ path, servers: "any", lineBytesMax: 1024 });
    connection.destroy();
    return connection.peer.pid;
  } catch (error) {
    if (error instanceof CodedError) return undefined;
    throw error;
  }
}
