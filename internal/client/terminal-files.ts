// What a terminal left in the tree: its resource files, which stay when it has ended. Read below the
// session's folder with no symlink followed; a small file that is missing or damaged is a fact that is
// not known.

import { closeSync, fstatSync, readdirSync, readSync } from "node:fs";
import { coded, fail, isObjectName } from "../abi/mod.ts";
import { openBeneath, openPath, readBeneath, throughFolder } from "../os/mod.ts";
import { type TerminalName, terminalFolder, terminalId } from "./terminal-place.ts";

/** One word of `state`, `status`, `owner`. */
const wordBytesMax = 64;
/** `cwd`, a path. */
const pathBytesMax = 4096;
const metaBytesMax = 64 * 1024;
/** Read at once of the history. */
const chunkBytes = 1024 * 1024;
/** One record of the history. A longer one is passed over. */
const recordBytesMax = 4 * 1024 * 1024;

export interface TerminalFiles {
  readonly id: string;
  readonly agent: string;
  readonly session: string;
  /** As it was written last: a host that lost power leaves `ready` behind. */
  readonly state: string;
  /** Of an ended one, as of a shell. */
  readonly status: number | null;
  readonly cwd: string | null;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Undefined when the session never had a terminal. */
export function readTerminal(source: string, name: TerminalName): TerminalFiles | undefined {
  return withFolder(source, `${terminalFolder(name)}/main`, (folder) => {
    const status = text(folder, "status", wordBytesMax);
    return {
      id: terminalId(name),
      agent: name.agent,
      session: name.session,
      state: text(folder, "state", wordBytesMax) ?? "unknown",
      status: status !== undefined && /^\d{1,3}$/.test(status) ? Number(status) : null,
      cwd: text(folder, "cwd", pathBytesMax) ?? null,
      meta: object(text(folder, "meta.json", metaBytesMax)),
    };
  });
}

/** Sessions of an agent that have or had a terminal, sorted. */
export function terminalSessions(source: string, agent: string, owner: number): string[] {
  const sessions = withFolder(source, `home/${owner}/agent/${agent}/session`, (folder) =>
    readdirSync(throughFolder(folder, ".")).filter(
      (name) => isObjectName(name) && name !== "index" && isFolder(folder, `${name}/terminal/main`),
    ),
  );
  return (sessions ?? []).sort();
}

/**
 * Lines of the terminal's history, the older segment first. Nothing when there is none; the last line
 * of a history that is being written may be missing.
 */
export function* historyLines(source: string, name: TerminalName): Generator<string> {
  for (const file of ["events.jsonl.1", "events.jsonl"]) {
    const relative = `${terminalFolder(name)}/main`;
    const fd = withFolder(source, relative, (folder) => openHistory(folder, file));
    if (fd === undefined) continue;
    try {
      yield* lines(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** Undefined when there is none. What is there and cannot be read is no empty history. */
function openHistory(folder: number, file: string): number | undefined {
  let fd: number | undefined;
  try {
    fd = openBeneath(folder, file, "read");
    if (fstatSync(fd).isFile()) return fd;
    fail("EINVAL", "it is no regular file");
  } catch (error) {
    if (fd !== undefined) closeSync(fd);
    const { code, message } = coded(error);
    if (code === "ENOENT") return undefined;
    return fail(code, `cannot read the history "${file}": ${message}`, { hint: "move it away" });
  }
}

function* lines(fd: number): Generator<string> {
  const decoder = new TextDecoder();
  const chunk = new Uint8Array(chunkBytes);
  let rest = "";
  for (;;) {
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) return;
    const parts = (rest + decoder.decode(chunk.subarray(0, count), { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    if (rest.length > recordBytesMax) rest = "";
    yield* parts;
  }
}

function withFolder<T>(
  source: string,
  relative: string,
  use: (folder: number) => T,
): T | undefined {
  let folder: number;
  try {
    const tree = openPath(source, "folder");
    try {
      folder = openBeneath(tree, relative, "folder");
    } finally {
      closeSync(tree);
    }
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  try {
    return use(folder);
  } finally {
    closeSync(folder);
  }
}

function isFolder(base: number, relative: string): boolean {
  try {
    closeSync(openBeneath(base, relative, "folder"));
    return true;
  } catch {
    return false;
  }
}

function text(folder: number, name: string, bytesMax: number): string | undefined {
  try {
    const value = new TextDecoder().decode(readBeneath(folder, name, bytesMax)).trim();
    return value === "" ? undefined : value;
  } catch {
    return undefined;
  }
}

function object(json: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json ?? "{}");
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
