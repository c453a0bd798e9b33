// Folders that a sandbox sees and the launcher writes: /etc and /ctx. Each is named by the digest of
// what is in it, made whole under another name and renamed, then never changed, so that any number
// of sandboxes share it. Nothing in one is secret. They live below the runtime folder.

import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

export type GeneratedEntry =
  | {
      readonly kind: "file";
      readonly path: string;
      readonly content: string | Uint8Array;
      readonly executable?: boolean;
    }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | { readonly kind: "folder"; readonly path: string };

export class GeneratedFolders {
  readonly #base: string;
  readonly #known = new Set<string>();

  /** Makes `<runtime>/view`, searchable by every agent, and removes what no process uses. */
  constructor(runtime: string) {
    this.#base = join(runtime, "view");
    mkdirSync(this.#base, { recursive: true });
    chmodSync(this.#base, 0o711);
    this.#collect();
  }

  /** The folder for this key; `entries` is asked only when it is not there yet. */
  folder(key: string, entries: () => readonly GeneratedEntry[]): string {
    const name = createHash("sha256").update(key).digest("hex").slice(0, 32);
    const path = join(this.#base, name);
    if (this.#known.has(name) && existsSync(path)) return path;
    if (!existsSync(path)) this.#build(path, entries());
    this.#known.add(name);
    return path;
  }

  #build(path: string, entries: readonly GeneratedEntry[]): void {
    const temporary = join(this.#base, `.${randomBytes(8).toString("hex")}.tmp`);
    mkdirSync(temporary);
    for (const entry of entries) {
      const at = join(temporary, entry.path);
      mkdirSync(entry.kind === "folder" ? at : dirname(at), { recursive: true });
      if (entry.kind === "link") symlinkSync(entry.target, at);
      if (entry.kind !== "file") continue;
      writeFileSync(at, entry.content);
      chmodSync(at, entry.executable ? 0o755 : 0o644);
    }
    openFolders(temporary);
    renameSync(temporary, path);
  }

  #collect(): void {
    const names = readdirSync(this.#base);
    if (names.length === 0) return;
    const mounted = mountedText();
    for (const name of names) {
      if (mounted.includes(`/view/${name} `)) continue;
      rmSync(join(this.#base, name), { recursive: true, force: true });
    }
  }
}

/** Folder modes without the umask of whoever started the server. */
function openFolders(path: string): void {
  chmodSync(path, 0o755);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) openFolders(join(path, entry.name));
  }
}

/** The mounts of every process that this one may look at, sandboxes among them. */
function mountedText(): string {
  const texts = new Set<string>();
  for (const name of readdirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    try {
      texts.add(readFileSync(`/proc/${name}/mountinfo`, "utf8"));
    } catch {
      // Ended, or another user's.
    }
  }
  return [...texts].join("\n");
}
