// The resource of a terminal: a folder of small files below its session, which stays when the terminal
// is gone. Reached from the tree's descriptor without following a symlink, since the owner can write
// there. While a terminal runs its launch writes the recording and, at the end, how it ended.

import { closeSync, lstatSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import { basename, dirname } from "node:path";
import { coded } from "../abi/mod.ts";
import { type FileOwner, openBeneath, readBeneath, throughFolder } from "../os/mod.ts";
import { makeFolders } from "../session-log/mod.ts";
import type { Tree } from "../tree/mod.ts";
import type { Ending } from "./recorder.ts";
import { writeSmallFile } from "./small-file.ts";
import type { TerminalState } from "./types.ts";

/** One of the small files. Past it the resource is not shown. */
export const resourceFileBytesMax = 256 * 1024;

/** Of what was ended before anybody could write down how. */
export const killed: Ending = { status: 137, signal: 9 };

const smallFiles = ["meta.json", "state", "status", "owner", "cwd"] as const;
type SmallFile = (typeof smallFiles)[number];

/** What `meta.json` holds; the other files say the rest. */
export interface TerminalMeta {
  readonly kind: "terminal";
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  readonly scope: "private";
  readonly generation: string;
  readonly command: readonly string[];
  readonly workspace: string | null;
  readonly mounts: readonly string[];
  readonly supervisor: string;
  readonly unit: string | null;
  readonly socket: string;
  readonly started_at: string;
  readonly ended_at: string | null;
  /** The signal that ended it. */
  readonly signal: number | null;
}

/** Relative to the tree. */
export function resourcePath(owner: number, agent: string, session: string): string {
  return `home/${owner}/agent/${agent}/session/${session}/terminal/main`;
}

export class Resource {
  readonly #tree: Tree;
  readonly #path: string;
  readonly #owner: FileOwner;

  constructor(tree: Tree, owner: FileOwner, agent: string, session: string) {
    this.#tree = tree;
    this.#owner = owner;
    this.#path = resourcePath(owner.uid, agent, session);
  }

  /** Absolute, of the host. */
  get folder(): string {
    return `${this.#tree.source}/${this.#path}`;
  }

  exists(): boolean {
    try {
      closeSync(this.#open());
      return true;
    } catch (error) {
      if (coded(error).code === "ENOENT") return false;
      throw error;
    }
  }

  /**
   * Begins a terminal: makes the folder and writes what is known. Gives what undoes it, so that a
   * start that fails leaves what was there before.
   */
  begin(meta: TerminalMeta, cwd: string): () => void {
    const existed = this.exists();
    const { source: path, folder: fd } = this.#tree;
    makeFolders({ path, fd }, this.#path, this.#owner);
    const before = smallFiles.map((name) => [name, existed ? this.read(name) : undefined] as const);
    const undo = () => {
      if (!existed) return this.#remove();
      const failures = before.flatMap(([name, text]) => {
        try {
          if (text === undefined) this.#drop(name);
          else this.#write(name, text);
          return [];
        } catch (error) {
          // One that cannot be put back keeps none of the others from it.
          return [error];
        }
      });
      if (failures.length > 0) throw failures[0];
    };
    try {
      this.#drop("status");
      this.#write("owner", `${this.#owner.uid}\n`);
      this.#write("cwd", `${cwd}\n`);
      this.#write("meta.json", `${JSON.stringify(meta)}\n`);
      this.setState("starting");
    } catch (error) {
      undo();
      throw error;
    }
    return undo;
  }

  setState(state: TerminalState): void {
    this.#write("state", `${state}\n`);
  }

  state(): string | undefined {
    return this.read("state")?.trim();
  }

  /** Undefined until it has ended, and for one that was lost. */
  status(): number | undefined {
    const text = this.read("status")?.trim() ?? "";
    return /^[0-9]{1,3}$/.test(text) ? Number(text) : undefined;
  }

  meta(): TerminalMeta | undefined {
    try {
      return JSON.parse(this.read("meta.json") ?? "") as TerminalMeta;
    } catch {
      return undefined;
    }
  }

  /** What only its supervisor could say. */
  setUnit(unit: string): void {
    const meta = this.meta();
    if (meta !== undefined) this.#write("meta.json", `${JSON.stringify({ ...meta, unit })}\n`);
  }

  /** When it is known that nothing lives and nobody wrote down how it ended. */
  lost(at: string): void {
    const meta = this.meta();
    if (meta !== undefined) {
      this.#write("meta.json", `${JSON.stringify({ ...meta, ended_at: at })}\n`);
    }
    this.setState("lost");
  }

  /** For a launch that could not write it down itself. */
  ended(at: string, { status, signal }: Ending): void {
    try {
      this.#write("status", `${status}\n`);
    } catch (error) {
      // No room to say how: it is as if nobody knew.
      if (coded(error).code !== "ENOSPC") throw error;
      this.lost(at);
      return;
    }
    const meta = this.meta();
    if (meta !== undefined) {
      const ended = { ...meta, ended_at: at, signal: signal ?? null };
      this.#write("meta.json", `${JSON.stringify(ended)}\n`);
    }
    this.setState("exited");
  }

  /** What else is known of a terminal is told also when its owner has broken this file. */
  cwd(): string {
    try {
      return this.read("cwd")?.trim() ?? "/";
    } catch {
      return "/";
    }
  }

  read(name: SmallFile): string | undefined {
    try {
      const bytes = readBeneath(this.#tree.folder, `${this.#path}/${name}`, resourceFileBytesMax);
      return new TextDecoder().decode(bytes);
    } catch (error) {
      if (coded(error).code === "ENOENT") return undefined;
      throw error;
    }
  }

  #open(): number {
    return openBeneath(this.#tree.folder, this.#path, "folder");
  }

  #write(name: SmallFile, text: string): void {
    const folder = this.#open();
    try {
      writeSmallFile(folder, name, text, process.getuid?.() === 0 ? this.#owner : undefined);
    } finally {
      closeSync(folder);
    }
  }

  #drop(name: SmallFile): void {
    const folder = this.#open();
    try {
      unlinkSync(throughFolder(folder, name));
    } catch (error) {
      if (coded(error).code !== "ENOENT") throw error;
    } finally {
      closeSync(folder);
    }
  }

  /**
   * The folder of a terminal that never was, and those above it that hold nothing now. Each by its
   * parent's descriptor: what the owner puts in the place of one leads nowhere else.
   */
  #remove(): void {
    const path = dirname(dirname(this.#path));
    const opened: number[] = [];
    const open = (parent: number, name: string) => {
      opened.push(openBeneath(parent, name, "folder"));
      return opened.at(-1) as number;
    };
    try {
      const sessions = open(this.#tree.folder, dirname(path));
      const session = open(sessions, basename(path));
      const main = throughFolder(open(session, "terminal"), "main");
      if (lstatSync(main, { throwIfNoEntry: false })?.isDirectory()) {
        rmSync(main, { recursive: true });
      }
      rmdirSync(throughFolder(session, "terminal"));
      rmdirSync(throughFolder(sessions, basename(path)));
    } catch (error) {
      if (!["ENOTEMPTY", "ENOENT"].includes(coded(error).code)) throw error;
    } finally {
      for (const fd of opened) closeSync(fd);
    }
  }
}
