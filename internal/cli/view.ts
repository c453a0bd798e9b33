// What commands that only read see: the root of the view, and a person's path below it. No store is opened;
// reading a file of the view needs nothing but the caller's own rights.

import { existsSync, lstatSync, statSync } from "node:fs";
import { coded, fail, isCoded } from "../abi/mod.ts";

export interface RootOptions {
  readonly root: string | undefined;
  /** Of `--source`, when it was given. */
  readonly source: string | undefined;
  /** Where the source tree is; asked only when nothing names a view. */
  readonly findSource: () => string;
}

/** `--root`, else CTX_ROOT, else /ctx when it is a live view, else the source tree itself. */
export function viewRoot(options: RootOptions): string {
  const named = options.root ?? process.env["CTX_ROOT"];
  if (named) return named;
  if (options.source === undefined && !process.env["CTX_SOURCE"] && isLiveView("/ctx")) {
    return "/ctx";
  }
  return options.findSource();
}

/** A mount of its own with the view's `status` file in it. */
function isLiveView(path: string): boolean {
  const own = statSync(path, { throwIfNoEntry: false });
  const above = statSync("/", { throwIfNoEntry: false });
  if (own === undefined || above === undefined || own.dev === above.dev) return false;
  return lstatSync(`${path}/status`, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** A path of the view: relative to its root, or below /ctx, or below the root itself. EACCES outside. */
export function viewPath(root: string, path: string): string {
  let rest = path;
  if (path === root || path.startsWith(`${root}/`)) rest = path.slice(root.length);
  else if (path === "/ctx" || path.startsWith("/ctx/")) rest = path.slice("/ctx".length);
  else if (path.startsWith("/")) outside(path);
  const parts: string[] = [];
  for (const part of rest.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) outside(path);
  }
  return parts.length === 0 ? root : `${root}/${parts.join("/")}`;
}

function outside(path: string): never {
  return fail("EACCES", `${JSON.stringify(path)} is not in the tree`, {
    hint: "name a path from the tree's root, for example agent/coder.d/policy",
  });
}

/** What is said for these, since node's own text repeats the code, the call and the path. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of it is not a folder",
  ELOOP: "too many symlinks",
};

/**
 * Turns what a file call threw into an error that names the action and the path; ours pass as they
 * are. With `root`, a path that is missing because there is no tree at all says that instead.
 */
export function unreadable(action: string, path: string, error: unknown, root?: string): never {
  if (isCoded(error)) throw error;
  const { code, message: said } = coded(error);
  if (root !== undefined && code === "ENOENT" && !existsSync(root)) {
    const hint = `run ctx bootstrap ${JSON.stringify(root)}`;
    return fail("ENOENT", `cannot find tree ${JSON.stringify(root)}`, { cause: error, hint });
  }
  const reason = reasons[(error as { code?: string }).code ?? ""] ?? said;
  return fail(code, `cannot ${action} ${JSON.stringify(path)}: ${reason}`, { cause: error });
}
