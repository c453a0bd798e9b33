// The agent's socket at its ABI path, `<source>/agent/<name>.sock`: a symlink to the real socket in
// the runtime folder. Put there by rename, so that a client finds the old one or the new one, and
// taken away only while it is still ours.

import { closeSync, lstatSync, readlinkSync, renameSync, symlinkSync, unlinkSync } from "node:fs";
import { coded, fail } from "../abi/mod.ts";
import { openBeneath, throughFolder } from "../os/mod.ts";
import type { Tree } from "../tree/mod.ts";

function inAgentFolder<T>(tree: Tree, use: (at: (name: string) => string) => T): T {
  const folder = openBeneath(tree.folder, "agent", "folder");
  try {
    return use((name) => throughFolder(folder, name));
  } finally {
    closeSync(folder);
  }
}

/** Throws EEXIST when something that is neither a symlink nor a socket has the name. */
export function publishAlias(tree: Tree, agent: string, target: string): void {
  inAgentFolder(tree, (at) => {
    const alias = at(`${agent}.sock`);
    const facts = lstatSync(alias, { throwIfNoEntry: false });
    if (facts && !facts.isSymbolicLink() && !facts.isSocket()) {
      fail("EEXIST", `cannot put a socket at "agent/${agent}.sock": a file has that name`, {
        hint: "move the file away, then run ctxd's rescan",
      });
    }
    if (facts?.isSymbolicLink() && readlinkSync(alias) === target) return;
    const fresh = at(`.${agent}.sock.${process.pid}`);
    if (lstatSync(fresh, { throwIfNoEntry: false })) unlinkSync(fresh);
    try {
      symlinkSync(target, fresh);
      renameSync(fresh, alias);
    } catch (error) {
      const { code, message } = coded(error);
      // The system names descriptors after its reason.
      const [reason] = message.split(",");
      fail(code, `cannot put a socket at "agent/${agent}.sock": ${reason}`, { cause: error });
    }
  });
}

/** Where the alias leads now; undefined when there is none. */
export function readAlias(tree: Tree, agent: string): string | undefined {
  return inAgentFolder(tree, (at) => {
    const alias = at(`${agent}.sock`);
    const facts = lstatSync(alias, { throwIfNoEntry: false });
    return facts?.isSymbolicLink() ? readlinkSync(alias) : undefined;
  });
}

export function removeAlias(tree: Tree, agent: string, target: string): void {
  inAgentFolder(tree, (at) => {
    const alias = at(`${agent}.sock`);
    const facts = lstatSync(alias, { throwIfNoEntry: false });
    if (facts?.isSymbolicLink() && readlinkSync(alias) === target) unlinkSync(alias);
  });
}
