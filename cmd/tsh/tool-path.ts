// Where tools are: the folders of CTX_PATH, left to right, and nothing else. The host's PATH is not so
// much as read.

import { lstatSync, readdirSync } from "node:fs";
import { fail, isObjectName } from "../../internal/abi/mod.ts";
import { viewPath } from "../../internal/cli/mod.ts";

export interface Found {
  readonly name: string;
  /** As an agent names it, e.g. "/ctx/tool/fs.read". */
  readonly viewPath: string;
  readonly path: string;
}

export interface ToolPath {
  /** Where the view is on this machine: /ctx in a sandbox. */
  readonly root: string;
  readonly folders: readonly string[];
}

/** Folders of CTX_PATH that are in the view; others are not looked at. */
function folderPath(root: string, folder: string): string | undefined {
  return folder === "/ctx" || folder.startsWith("/ctx/") ? viewPath(root, folder) : undefined;
}

/** The tools by name, each from the first folder that has it, in the order of the folders. */
export function allTools({ root, folders }: ToolPath): Found[] {
  const seen = new Map<string, Found>();
  for (const folder of folders) {
    for (const name of namesIn(folderPath(root, folder))) {
      const tool = seen.has(name) ? undefined : lookUp(root, folder, name);
      if (tool !== undefined) seen.set(name, tool);
    }
  }
  return [...seen.values()];
}

function namesIn(path: string | undefined): string[] {
  if (path === undefined) return [];
  try {
    return readdirSync(path).filter(isObjectName).sort();
  } catch {
    // A folder that is missing or closed to the caller holds no tool for them.
    return [];
  }
}

export function findTool({ root, folders }: ToolPath, name: string): Found {
  for (const folder of folders) {
    const tool = lookUp(root, folder, name);
    if (tool !== undefined) return tool;
  }
  return fail("ENOENT", `tool "${name}" is not on CTX_PATH`, {
    hint: `looked in ${folders.join(", ")}; see tsh tools`,
  });
}

/** Only an executable regular file counts. */
function lookUp(root: string, folder: string, name: string): Found | undefined {
  const base = folderPath(root, folder);
  if (base === undefined) return undefined;
  const path = `${base}/${name}`;
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (!facts?.isFile() || (facts.mode & 0o111) === 0) return undefined;
  return { name, path, viewPath: `${folder.replace(/\/$/, "")}/${name}` };
}
