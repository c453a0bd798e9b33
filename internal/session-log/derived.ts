// Files that can be rebuilt from the log: state, latest.md, the indexes. They are written off the
// path of any acknowledgement, the newest content only, and a failure is forgotten: the truth is in
// the log.

import { type FileOwner, replaceFile } from "../os/mod.ts";
import { makeFolders, type Root, withFolder } from "./folders.ts";

/** A content, or what makes it when it is written. */
export type DerivedContent = string | (() => string);

export class DerivedFiles {
  readonly #root: Root;
  readonly #folder: string;
  readonly #owner: FileOwner | undefined;
  readonly #waiting = new Map<string, DerivedContent>();
  readonly #written = new Map<string, string>();
  #scheduled: ReturnType<typeof setImmediate> | undefined;

  constructor(root: Root, folder: string, owner: FileOwner) {
    this.#root = root;
    this.#folder = folder;
    this.#owner = process.getuid?.() === 0 ? owner : undefined;
  }

  /** Names may hold one folder, e.g. `by-cwd/<hash>`. The last content of a name wins. */
  set(files: Readonly<Record<string, DerivedContent>>): void {
    for (const [name, content] of Object.entries(files)) this.#waiting.set(name, content);
    this.#scheduled ??= setImmediate(() => this.flush());
  }

  /** Writes what waits now. */
  flush(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    for (const [name, made] of this.#waiting) {
      try {
        const content = typeof made === "string" ? made : made();
        if (this.#written.get(name) === content) continue;
        this.#write(name, content);
        // Only small files that come again and again are worth remembering.
        if (content.length < 256 && this.#written.size < 64) this.#written.set(name, content);
        else this.#written.delete(name);
      } catch {
        // A full or read-only disk must not fail a run; the next change tries again.
        this.#written.delete(name);
      }
    }
    this.#waiting.clear();
  }

  #write(name: string, content: string): void {
    const cut = name.lastIndexOf("/");
    const folder = cut < 0 ? this.#folder : `${this.#folder}/${name.slice(0, cut)}`;
    const options = { mode: 0o600, durable: false, owner: this.#owner };
    makeFolders(this.#root, folder, this.#owner ?? { uid: -1, gid: -1 });
    withFolder(this.#root, folder, (fd) => replaceFile(fd, name.slice(cut + 1), content, options));
  }
}
