// Which request ids an agent's sessions have used. A claim is durable before the request's
// acceptance is; so a claim may stand for a request that a crash kept from being accepted, and only
// the session's log can tell: such a claim is void. The newest ids are kept, the oldest forgotten.
// One writer an agent, by the same kind of lock as a session.

import { closeSync, fstatSync, fsyncSync, renameSync } from "node:fs";
import { type Code, CodedError, coded } from "../abi/mod.ts";
import { type FileOwner, lookPath, openBeneath, throughFolder } from "../os/mod.ts";
import { claimsMax, claimsTailBytes, scanChunkBytes } from "./bounds.ts";
import { DurableFile, type FileCalls, fileCalls } from "./durable-file.ts";
import { joinLines } from "./encode.ts";
import { existsBeneath, makeFolders, pathError, type Root, withFolder } from "./folders.ts";
import { JsonLines, wholeLines } from "./lines.ts";
import type { HeldLock, LockFolder } from "./lock.ts";
import { hasItsName, openLogFile } from "./log-file.ts";

/** The session of a claim: `private/<session>`, `shared/<space>/<session>` or `temp/<session>`. */
export type ClaimKey = string;

export interface Claim {
  readonly key: ClaimKey;
  readonly digest: string;
  /** False for a claim from an earlier process: its session's log has to prove it. */
  readonly proven: boolean;
}

export interface ClaimsOptions {
  readonly root: Root;
  /** The agent's `session/index` folder, relative to the tree. */
  readonly folder: string;
  readonly owner: FileOwner;
  readonly locks: LockFolder;
  readonly agent: string;
  readonly calls?: FileCalls;
  /** Ids kept; `claimsMax` but for tests. */
  readonly max?: number;
}

interface Waiting {
  readonly line: Uint8Array;
  resolve(): void;
  reject(error: CodedError): void;
}

const fileName = "claims.jsonl";
const oldName = "claims.old.jsonl";
const encoder = new TextEncoder();

export class Claims {
  readonly #options: ClaimsOptions;
  readonly #lock: HeldLock;
  readonly #table: Map<string, Claim>;
  readonly #max: number;
  readonly #waiting: Waiting[] = [];
  #file: DurableFile;
  #lines: number;
  #failure: CodedError | undefined;
  #pumping: Promise<void> | undefined;

  constructor(options: ClaimsOptions, lock: HeldLock, loaded: Loaded) {
    this.#options = options;
    this.#lock = lock;
    this.#table = loaded.table;
    this.#max = options.max ?? claimsMax;
    this.#file = loaded.file;
    this.#lines = loaded.lines;
  }

  /** The error after which nothing can be claimed any more. */
  get failure(): CodedError | undefined {
    return this.#failure;
  }

  get size(): number {
    return this.#table.size;
  }

  /** False once the file was removed or replaced: nothing can be claimed any more. */
  get inPlace(): boolean {
    const { root, folder } = this.#options;
    return hasItsName(root, lookPath(`${folder}/${fileName}`), this.#file.fd);
  }

  find(id: string): Claim | undefined {
    return this.#table.get(id);
  }

  /** Takes an id at once; the promise resolves when that is durable (at once for `durable` false). */
  take(id: string, key: ClaimKey, digest: string, durable: boolean): Promise<void> {
    this.#table.delete(id);
    this.#table.set(id, { key, digest, proven: true });
    for (const oldest of this.#table.keys()) {
      if (this.#table.size <= this.#max) break;
      this.#table.delete(oldest);
    }
    if (!durable) return Promise.resolve();
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const line = encoder.encode(`${JSON.stringify({ id, key, digest })}\n`);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, resolve, reject });
      this.#pumping ??= this.#pump();
    });
  }

  /** Gives back an id whose request was not accepted. */
  drop(id: string): void {
    this.#table.delete(id);
  }

  async close(): Promise<void> {
    await this.#pumping;
    this.#file.close();
    this.#lock.release();
  }

  async #pump(): Promise<void> {
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      const failed = this.#failure ?? (await this.#commit(group));
      for (const one of group) {
        if (failed === undefined) one.resolve();
        else one.reject(failed);
      }
    }
    this.#pumping = undefined;
  }

  async #commit(group: readonly Waiting[]): Promise<CodedError | undefined> {
    const subject = `claims of agent "${this.#options.agent}"`;
    const before = this.#file.size;
    try {
      if (!this.#lock.held())
        return this.#fail("session_locked", `the lock of the ${subject} is lost`);
      if (!this.inPlace) return this.#fail("session_locked", `the ${subject} were removed`);
      if (!this.#file.untouched) return this.#fail("EIO", `somebody else wrote to the ${subject}`);
      if (this.#lines >= this.#max) this.#rotate();
      this.#file.write(joinLines(group.map((one) => one.line)));
    } catch (error) {
      return this.#takeBack(before, error, subject);
    }
    try {
      await this.#file.sync();
    } catch (error) {
      return this.#fail("EIO", `fdatasync of the ${subject} failed: ${coded(error).message}`);
    }
    this.#lines += group.length;
    return undefined;
  }

  async #takeBack(size: number, cause: unknown, subject: string): Promise<CodedError> {
    const code = coded(cause).code === "ENOSPC" ? "ENOSPC" : "EIO";
    try {
      await this.#file.cutBack(Math.min(size, this.#file.size));
    } catch (error) {
      return this.#fail("EIO", `the ${subject} cannot be cut back: ${coded(error).message}`);
    }
    return new CodedError(code, `cannot write the ${subject}: ${coded(cause).message}`);
  }

  #fail(code: Code, text: string): CodedError {
    this.#failure ??= new CodedError(code, text);
    return this.#failure;
  }

  /** The file becomes the old one, whose place it takes; both together hold at least `max` ids. */
  #rotate(): void {
    const { root, folder, owner, calls } = this.#options;
    withFolder(root, folder, (fd) => {
      renameSync(throughFolder(fd, fileName), throughFolder(fd, oldName));
      fsyncSync(fd);
    });
    const fd = openLogFile(root, `${folder}/${fileName}`, owner);
    this.#file.close();
    this.#file = new DurableFile(fd, 0, calls ?? fileCalls);
    this.#lines = 0;
  }
}

interface Loaded {
  readonly file: DurableFile;
  readonly lines: number;
  readonly table: Map<string, Claim>;
}

/** Opens an agent's claims; session_locked while another process has them. */
export async function openClaims(options: ClaimsOptions): Promise<Claims> {
  const { root, folder, owner, locks, agent } = options;
  const lock = locks.take(`${root.path}/${folder}`, `agent "${agent}"`);
  let fd = -1;
  try {
    makeFolders(root, folder, owner);
    fd = openLogFile(root, `${folder}/${fileName}`, owner);
    return new Claims(options, lock, await load(options, fd));
  } catch (error) {
    if (fd >= 0) closeSync(fd);
    lock.release();
    throw error instanceof CodedError ? error : pathError(error, folder);
  }
}

async function load(options: ClaimsOptions, fd: number): Promise<Loaded> {
  const { root, folder } = options;
  const table = new Map<string, Claim>();
  const old = `${folder}/${oldName}`;
  if (existsBeneath(root, old)) {
    const oldFd = openBeneath(root.fd, old, "read");
    try {
      readClaims(oldFd, old, fstatSync(oldFd).size, table);
    } finally {
      closeSync(oldFd);
    }
  }
  const name = `${folder}/${fileName}`;
  const written = fstatSync(fd).size;
  const size = wholeLines(fd, written, claimsTailBytes);
  const file = new DurableFile(fd, written, options.calls ?? fileCalls);
  // A line that a crash cut was never durable, so its request was never accepted.
  await file.cutBack(size);
  const lines = readClaims(fd, name, size, table);
  const surplus = table.size - (options.max ?? claimsMax);
  for (const id of [...table.keys()].slice(0, Math.max(surplus, 0))) table.delete(id);
  return { file, lines, table };
}

function readClaims(fd: number, name: string, size: number, table: Map<string, Claim>): number {
  const lines = new JsonLines(fd, name, 0, size, scanChunkBytes);
  let count = 0;
  for (let line = lines.next(); line !== undefined; line = lines.next()) {
    const { id, key, digest } = line.value;
    if (typeof id !== "string" || typeof key !== "string" || typeof digest !== "string") {
      throw lines.fault("the line is not a claim", line);
    }
    table.delete(id);
    table.set(id, { key, digest, proven: false });
    count += 1;
  }
  return count;
}
