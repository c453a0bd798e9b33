// The agent's home on the host. Missing parts are made, as its owner's; what ctxd keeps in it is
// bound read-only, so that an agent cannot write its own history. No symlink is followed: the agent
// may have put one there.

import { closeSync, fchownSync, fstatSync, mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { coded, fail } from "../abi/mod.ts";
import { openBeneath, throughFolder } from "../os/mod.ts";
import type { Bind } from "../sandbox/mod.ts";
import type { Tree } from "../tree/mod.ts";
import type { Expectation } from "./expectation.ts";

const homeView = "/home/agent";

/** Folders in a home that belong to ctxd. The first is made, since an agent could make it first. */
const ours = ["session", "archived_sessions"];

export interface HomePlan {
  readonly binds: readonly Bind[];
  /** What was found at each bind's place. */
  readonly expected: readonly Expectation[];
}

/** `owner` gets what is made; undefined leaves it with the server. Throws EACCES for a symlink. */
export function homePlan(
  tree: Tree,
  home: string,
  owner: { readonly uid: number; readonly gid: number } | undefined,
): HomePlan {
  const path = relative(tree.source, home);
  if (!/^home\/[^/]+\/agent\/[^/]+$/.test(path)) {
    fail("EINVAL", `"${home}" is no agent's home in the tree "${tree.source}"`);
  }
  const parts = path.split("/");
  for (let depth = 1; depth <= parts.length; depth += 1) {
    closeSync(ensureFolder(tree, parts.slice(0, depth).join("/"), owner));
  }
  closeSync(ensureFolder(tree, `${path}/session`, owner));
  const folder = ensureFolder(tree, path, owner);
  try {
    const guarded = ours.flatMap((name) => guardedFolder(folder, name) ?? []);
    return {
      binds: [
        { host: home, view: homeView, access: "rw" },
        ...guarded.map(({ name, view }): Bind => ({ host: join(home, name), view, access: "ro" })),
      ],
      expected: [{ view: homeView, ...fstatSync(folder, { bigint: true }) }, ...guarded].map(
        ({ view, dev, ino }) => ({ view, dev, ino }),
      ),
    };
  } finally {
    closeSync(folder);
  }
}

function ensureFolder(
  tree: Tree,
  path: string,
  owner: { readonly uid: number; readonly gid: number } | undefined,
): number {
  try {
    return openBeneath(tree.folder, path, "folder");
  } catch (error) {
    if (coded(error).code !== "ENOENT") return refuse(path, error);
  }
  const cut = path.lastIndexOf("/");
  const parent = openBeneath(tree.folder, path.slice(0, cut), "folder");
  try {
    const name = path.slice(cut + 1);
    mkdirSync(throughFolder(parent, name), { mode: 0o700 });
    const made = openBeneath(parent, name, "folder");
    // Never by name: whoever owns the folder above may have put a symlink there by now.
    if (owner) fchownSync(made, owner.uid, owner.gid);
    return made;
  } catch (error) {
    return refuse(path, error);
  } finally {
    closeSync(parent);
  }
}

function refuse(path: string, error: unknown): never {
  const { code, message } = coded(error);
  return fail(code, `cannot use "${path}" as an agent's folder: ${message}`, { cause: error });
}

/** Undefined when there is none. */
function guardedFolder(parent: number, name: string): (Expectation & { name: string }) | undefined {
  try {
    const folder = openBeneath(parent, name, "folder");
    try {
      const { dev, ino } = fstatSync(folder, { bigint: true });
      return { name, view: `${homeView}/${name}`, dev, ino };
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    const { code, message } = coded(error);
    if (code === "ENOENT") return undefined;
    return fail(code, `cannot guard "${name}" in an agent's home: ${message}`, { cause: error });
  }
}
