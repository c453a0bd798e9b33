// Where a terminal is reached: the folder on the host in which its launch makes the socket, the alias
// below its session by which the ABI names it, and the runtime path that clients try after that.

import {
  closeSync,
  fchmodSync,
  fchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { coded, fail } from "../abi/mod.ts";
import { type FileOwner, openBeneath, openPath, throughFolder } from "../os/mod.ts";
import { ensureRuntimeFolder, type Places, type Tree } from "../tree/mod.ts";
import { resourcePath } from "./resource.ts";

export const socketName = "main.sock";

export interface EndpointOptions {
  readonly tree: Tree;
  readonly places: Places;
  /** `treeRuntime(places)`. */
  readonly runtime: string;
  readonly owner: FileOwner;
  readonly agent: string;
  readonly session: string;
}

export class Endpoint {
  readonly #of: EndpointOptions;

  constructor(of: EndpointOptions) {
    this.#of = of;
  }

  get folder(): string {
    const { runtime, agent, session } = this.#of;
    return join(runtime, "terminal", agent, session);
  }

  get socket(): string {
    return join(this.folder, socketName);
  }

  /** Relative to the tree. */
  get #aliasFolder(): string {
    const { owner, agent, session } = this.#of;
    return dirname(resourcePath(owner.uid, agent, session));
  }

  get alias(): string {
    return join(this.#of.tree.source, this.#aliasFolder, socketName);
  }

  /** The path for those who know no tree; another tree's terminal of these names may have it. */
  get #runtimePath(): string {
    const { places, owner, agent, session } = this.#of;
    const uid = places.mode === "system" ? [String(owner.uid)] : [];
    return join(places.runtime, "terminal", ...uid, agent, session, socketName);
  }

  /** The owner's private folder for the socket, without one in it. */
  prepare(): void {
    const { places, owner } = this.#of;
    ensureRuntimeFolder(dirname(this.folder), parentMode(places));
    const { folder } = this;
    if (madeFolder(folder)) giveFolder(folder, owner);
    const facts = lstatSync(folder);
    if (!facts.isDirectory() || facts.uid !== owner.uid || (facts.mode & 0o077) !== 0) {
      fail("EACCES", `cannot use "${folder}": it is not a private folder of uid ${owner.uid}`, {
        hint: "remove it",
      });
    }
    unlinkSocket(this.socket);
  }

  /** Throws unless both paths lead to a socket of the owner afterwards. */
  publish(): void {
    const { owner, tree } = this.#of;
    if (!isSocketOf(this.socket, owner.uid)) {
      fail("EHOSTDOWN", `"${this.socket}" is not a socket of uid ${owner.uid}`);
    }
    const folder = openBeneath(tree.folder, this.#aliasFolder, "folder");
    try {
      const alias = throughFolder(folder, socketName);
      const facts = lstatSync(alias, { throwIfNoEntry: false });
      if (facts && !facts.isSymbolicLink() && !facts.isSocket()) {
        fail("EEXIST", `cannot name the terminal at "${this.alias}": a file has that name`, {
          hint: "move it away",
        });
      }
      const fresh = throughFolder(folder, `.${socketName}.${process.pid}`);
      if (lstatSync(fresh, { throwIfNoEntry: false })) unlinkSync(fresh);
      symlinkSync(this.socket, fresh);
      renameSync(fresh, alias);
      if (readlinkSync(alias) !== this.socket) {
        fail("EIO", `"${this.alias}" does not lead to the terminal's socket`);
      }
    } finally {
      closeSync(folder);
    }
    this.#linkRuntimePath();
  }

  /**
   * A second name of the very socket: clients take nothing but a socket there. It is no more than a
   * convenience, so a host where it cannot be made has none.
   */
  #linkRuntimePath(): void {
    const { places, owner } = this.#of;
    const path = this.#runtimePath;
    try {
      ensureRuntimeFolder(dirname(path), parentMode(places));
      unlinkSocket(path);
      linkSync(this.socket, path);
      if (!isSocketOf(path, owner.uid)) unlinkSync(path);
    } catch {
      // The ABI path stands.
    }
  }

  /** Takes away what leads to a terminal that is gone; a successor's stays. */
  withdraw(): void {
    const inode = lstatSync(this.socket, { throwIfNoEntry: false })?.ino;
    if (inode !== undefined) {
      const path = this.#runtimePath;
      if (lstatSync(path, { throwIfNoEntry: false })?.ino === inode) unlinkSync(path);
      removeEmpty(dirname(path), 2);
    }
    try {
      this.#removeAlias();
    } finally {
      unlinkSocket(this.socket);
      removeEmpty(this.folder, 2);
    }
  }

  #removeAlias(): void {
    let folder: number;
    try {
      folder = openBeneath(this.#of.tree.folder, this.#aliasFolder, "folder");
    } catch (error) {
      if (coded(error).code === "ENOENT") return;
      throw error;
    }
    try {
      const alias = throughFolder(folder, socketName);
      const facts = lstatSync(alias, { throwIfNoEntry: false });
      if (facts?.isSymbolicLink() && readlinkSync(alias) === this.socket) unlinkSync(alias);
    } finally {
      closeSync(folder);
    }
  }
}

/** False when there is something already. */
function madeFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (error) {
    if (coded(error).code === "EEXIST") return false;
    throw error;
  }
}

function giveFolder(path: string, owner: FileOwner): void {
  const folder = openPath(path, "folder");
  try {
    fchmodSync(folder, 0o700);
    if (process.getuid?.() === 0) fchownSync(folder, owner.uid, owner.gid);
  } finally {
    closeSync(folder);
  }
}

/** Others may pass to what is theirs, where one server serves many. */
function parentMode(places: Places): number {
  return places.mode === "system" ? 0o711 : 0o700;
}

function isSocketOf(path: string, uid: number): boolean {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  return facts?.isSocket() === true && facts.uid === uid;
}

function unlinkSocket(path: string): void {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return;
  if (!facts.isSocket()) fail("EEXIST", `"${path}" is taken by something that is no socket`);
  unlinkSync(path);
}

/** The folder and the ones above it, as long as they are empty. */
function removeEmpty(path: string, levels: number): void {
  try {
    for (let at = path, left = levels; left > 0; at = dirname(at), left -= 1) rmdirSync(at);
  } catch {
    // Somebody else's is in it.
  }
}
