// Files that can be rebuilt from the log: state, latest.md, the indexes. They are written off the
// path of any acknowledgement, the newest content only, and a failure is forgotten: the truth is in
// the log.

import { closeSync } from "node:fs";
import { type FileOwner, openBeneath, replaceFile } from "../os/mod.ts";
import { makeFolders, type Root } from "./folders.ts";

/** A content, or what makes it when it is written. */
export type DerivedContent = string | (() => string);

/** Contents that are remembered so as not to be written again: short ones, this many. */
const rememberedLengthMax = 256;
const rememberedMax = 64;

export class DerivedFiles {
  readonly #root: Root;
  readonly #folder: string;
  readonly #owner: FileOwner;
  readonly #makesFolder: boolean;
  readonly #waiting = new Map<string, DerivedContent>();
  readonly #written = new Map<string, string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer fires, by the monotonic clock. */
  #due = Number.POSITIVE_INFINITY;

  /** Without `makesFolder` nothing is written once the folder is gone. */
  constructor(root: Root, folder: string, owner: FileOwner, makesFolder: boolean) {
    this.#makesFolder = makesFolder;
    this.#root = root;
    this.#folder = folder;
    this.#owner = owner;
  }

  /**
   * Names may hold one folder, e.g. `by-cwd/<hash>`. The last content of a name wins; `delayMs` is
   * how long it may wait for a newer one.
   */
  set(files: Readonly<Record<string, DerivedContent>>, delayMs: number): void {
    for (const [name, content] of Object.entries(files)) this.#waiting.set(name, content);
    const due = performance.now() + delayMs;
    if (due >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => this.flush(), delayMs);
  }

  /** Writes what waits now. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#due = Number.POSITIVE_INFINITY;
    const folders = new Map<string, number>();
    for (const [name, made] of this.#waiting) {
      try {
        const content = typeof made === "string" ? made : made();
        if (this.#written.get(name) === content) continue;
        this.#write(folders, name, content);
        this.#remember(name, content);
      } catch {
        // A full or read-only disk must not fail a run; the next change tries again.
        this.#written.delete(name);
      }
    }
    this.#waiting.clear();
    for (const fd of folders.values()) closeSync(fd);
  }

  #write(folders: Map<string, number>, name: string, content: string): void {
    const cut = name.lastIndexOf("/");
    const folder = cut < 0 ? this.#folder : `${this.#folder}/${name.slice(0, cut)}`;
    let fd = folders.get(folder);
    if (fd === undefined) {
      if (this.#makesFolder) makeFolders(this.#root, folder, this.#owner);
      fd = openBeneath(this.#root.fd, folder, "folder");
      folders.set(folder, fd);
    }
    const owner = process.getuid?.() === 0 ? this.#owner : undefined;
    replaceFile(fd, name.slice(cut + 1), content, { mode: 0o600, durable: false, owner });
  }

  #remember(name: string, content: string): void {
    const short = content.length <= rememberedLengthMax;
    if (short && (this.#written.has(name) || this.#written.size < rememberedMax)) {
      this.#written.set(name, content);
    } else {
      this.#written.delete(name);
    }
  }
}
