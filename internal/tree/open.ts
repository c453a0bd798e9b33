// A tree that is open, and the names of the objects in it. Everything below it is reached through
// the folder's descriptor. Listing reads folders and nothing in them; logs are never parsed.

import { closeSync, lstatSync, readdirSync } from "node:fs";
import { CodedError, coded, fail, isObjectName } from "../abi/mod.ts";
import { openBeneath, openPath, throughFolder } from "../os/mod.ts";
import { canonical } from "./places.ts";

export interface Tree {
  /** Canonical absolute path, as in the first line of built-in objects. */
  readonly source: string;
  /** Descriptor of the folder. */
  readonly folder: number;
  close(): void;
}

/** What every tree has; `bootstrap` makes them. */
const required = ["bin", "model", "agent", "tool", "home"];

/** Opens a tree that `bootstrap` made. ENOENT when it is missing or no tree. */
export function openTree(source: string): Tree {
  const path = canonical(source);
  const hint = `run ctx bootstrap "${path}"`;
  let folder: number;
  try {
    folder = openPath(path, "folder");
  } catch (error) {
    const { code, message } = coded(error);
    if (code === "ENOENT") return fail("ENOENT", `cannot find tree "${path}"`, { hint });
    return fail(code, `cannot open tree "${path}": ${message}`, { cause: error });
  }
  const missing = required.find(
    (name) => !lstatSync(throughFolder(folder, name), { throwIfNoEntry: false })?.isDirectory(),
  );
  if (missing !== undefined) {
    closeSync(folder);
    return fail("ENOENT", `"${path}" is not a tree: it has no folder "${missing}"`, { hint });
  }
  let open = true;
  return {
    source: path,
    folder,
    close() {
      if (open) closeSync(folder);
      open = false;
    },
  };
}

/** Names of agents: executables of a valid name in `agent/`. Sorted. */
export function agentNames(tree: Tree): string[] {
  return objectNames(tree, "agent", isExecutable);
}

/** Names of tools in a folder of the view, e.g. "/ctx/tool". A missing folder has none. Sorted. */
export function toolNames(tree: Tree, viewFolder: string): string[] {
  const folder = viewToSource(viewFolder);
  return folder === undefined ? [] : objectNames(tree, folder, isExecutable);
}

/** Models as `provider/model`, without aliases. Sorted. */
export function modelNames(tree: Tree): string[] {
  return objectNames(tree, "model", (facts) => facts.isDirectory()).flatMap((provider) =>
    objectNames(tree, `model/${provider}`, isExecutable).map((model) => `${provider}/${model}`),
  );
}

/** Aliases: the symlinks in `model/`, wherever they lead. Sorted. */
export function modelAliases(tree: Tree): string[] {
  return objectNames(tree, "model", (facts) => facts.isSymbolicLink());
}

/**
 * The place in the tree of a path of the view: "/ctx/tool/x" is "tool/x". Undefined when it is not
 * below /ctx, or has an empty, `.` or `..` component.
 */
export function viewToSource(viewPath: string): string | undefined {
  if (!viewPath.startsWith("/ctx/")) return undefined;
  const relative = viewPath.slice("/ctx/".length).replace(/\/$/, "");
  return isSafePath(relative) ? relative : undefined;
}

/** Components that are names and nothing else: none empty, `.`, `..` or with a NUL. */
export function isSafePath(relative: string): boolean {
  return relative
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0"));
}

type Facts = NonNullable<ReturnType<typeof lstatSync>>;

function isExecutable(facts: Facts): boolean {
  return facts.isFile() && (Number(facts.mode) & 0o111) !== 0;
}

function objectNames(tree: Tree, relative: string, wanted: (facts: Facts) => boolean): string[] {
  let folder: number;
  try {
    folder = openBeneath(tree.folder, relative, "folder");
  } catch (error) {
    const { code } = coded(error);
    if (code === "ENOENT") return [];
    throw listFailure(relative, error);
  }
  try {
    return readdirSync(`/proc/self/fd/${folder}`)
      .filter((name) => {
        if (!isObjectName(name)) return false;
        const facts = lstatSync(throughFolder(folder, name), { throwIfNoEntry: false });
        return facts !== undefined && wanted(facts);
      })
      .sort();
  } catch (error) {
    throw listFailure(relative, error);
  } finally {
    closeSync(folder);
  }
}

function listFailure(relative: string, error: unknown): CodedError {
  const { code, message } = coded(error);
  return new CodedError(code, `cannot list "${relative}": ${message}`, { cause: error });
}
