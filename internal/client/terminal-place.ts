// Where a session's terminal listens: its alias in the tree, which leads into a runtime folder, the
// user's runtime folder, and the system's. No path is trusted for its name: no component below a
// folder of ours may be a symlink but the alias, whose target must lie in a runtime folder, and what
// is found must be a socket of the agent's owner.

import { closeSync, fstatSync, readlinkSync } from "node:fs";
import { fail, objectName, sessionName } from "../abi/mod.ts";
import { openBeneath, openPath, throughFolder } from "../os/mod.ts";
import type { Places } from "../tree/mod.ts";

export interface TerminalName {
  readonly agent: string;
  readonly session: string;
  /** Uid that the agent belongs to. */
  readonly owner: number;
}

export type TerminalPlaces = Pick<Places, "mode" | "runtime" | "source">;

/** `terminal-<agent>-<session>`: at most 138 characters. */
export function terminalId({ agent, session }: Pick<TerminalName, "agent" | "session">): string {
  return `terminal-${agent}-${session}`;
}

/** The folder of a session's terminals in the tree, relative to the tree. Private sessions have one. */
export function terminalFolder(name: TerminalName): string {
  const agent = objectName("agent", name.agent);
  return `home/${name.owner}/agent/${agent}/session/${sessionName(name.session)}/terminal`;
}

/** A socket that was found: the descriptor names this very socket, whatever its path becomes. */
export interface FoundSocket {
  readonly path: string;
  /** O_PATH; the caller closes it. */
  readonly fd: number;
}

/** Every place that has a socket, the first to be tried first. EACCES when one is somebody else's. */
export function* terminalSockets(
  places: TerminalPlaces,
  name: TerminalName,
): Generator<FoundSocket> {
  const tried = new Set<string>();
  for (const found of candidates(places, name)) {
    const path = `${found.folder}/${found.relative}`;
    if (tried.has(path)) continue;
    tried.add(path);
    const fd = openSocket(found.folder, found.relative, name.owner);
    if (fd !== undefined) yield { path, fd };
  }
}

interface Candidate {
  readonly folder: string;
  readonly relative: string;
}

function* candidates(places: TerminalPlaces, name: TerminalName): Generator<Candidate> {
  const user = `/run/user/${name.owner}/cortexfs`;
  const usual = [user, systemRuntime];
  const target = aliasTarget(places.source, name);
  if (target !== undefined) {
    const folder = [places.runtime, ...usual].find((one) => target.startsWith(`${one}/`));
    if (folder === undefined || target.split("/").includes("..")) {
      fail("EACCES", `the terminal's alias leads to "${target}", which is no runtime folder`, {
        hint: "remove the alias, then start the terminal anew",
      });
    }
    yield { folder, relative: target.slice(folder.length + 1) };
  }
  // A throw-away tree has a runtime folder of its own and shares no terminal with a person's own tree.
  const folders = usual.includes(places.runtime) ? usual : [places.runtime];
  const below = `${name.agent}/${name.session}/main.sock`;
  for (const folder of folders) {
    // Where one server serves many, each has a folder.
    const serves = folder === systemRuntime || places.mode === "system";
    yield { folder, relative: `terminal/${serves ? `${name.owner}/` : ""}${below}` };
  }
}

const systemRuntime = "/run/cortexfs";

/** Where `terminal/main.sock` in the tree leads, when it is there and a symlink. */
function aliasTarget(source: string, name: TerminalName): string | undefined {
  try {
    const tree = openPath(source, "folder");
    try {
      const folder = openBeneath(tree, terminalFolder(name), "folder");
      try {
        return readlinkSync(throughFolder(folder, "main.sock"));
      } finally {
        closeSync(folder);
      }
    } finally {
      closeSync(tree);
    }
  } catch (error) {
    // EINVAL: it is there and no symlink, so it is not ours.
    if (isErrno(error, "ENOENT", "ENOTDIR", "EINVAL")) return undefined;
    if (isErrno(error, "ELOOP")) {
      fail("EACCES", `a symlink stands in the way to the terminal of ${subject(name)}`, {
        cause: error,
      });
    }
    if (isErrno(error, "EACCES", "EPERM")) refused(name, error);
    throw error;
  }
}

/** Undefined when nothing is there. */
function openSocket(folder: string, relative: string, owner: number): number | undefined {
  let fd: number;
  try {
    const base = openPath(folder, "path");
    try {
      fd = openBeneath(base, relative, "path");
    } finally {
      closeSync(base);
    }
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return undefined;
    // Another user's runtime folder, which cannot hold what this one may join.
    if (isErrno(error, "EACCES", "EPERM")) return undefined;
    if (isErrno(error, "ELOOP")) return strange(folder, relative, "a symlink stands there");
    throw error;
  }
  const facts = fstatSync(fd);
  if (facts.isSocket() && (facts.uid === owner || facts.uid === 0)) return fd;
  closeSync(fd);
  const why = facts.isSocket() ? `it belongs to uid ${facts.uid}` : "it is no socket";
  return strange(folder, relative, why);
}

function strange(folder: string, relative: string, why: string): never {
  return fail("EACCES", `cannot use "${folder}/${relative}": ${why}`, {
    hint: "a terminal is a socket of the agent's owner, with no symlink on the way to it",
  });
}

function refused(name: TerminalName, cause: unknown): never {
  return fail("EACCES", `cannot look for the terminal of ${subject(name)}: permission denied`, {
    cause,
    hint: "only the agent's owner and root may",
  });
}

export function subject(name: Pick<TerminalName, "agent" | "session">): string {
  return `agent "${name.agent}", session "${name.session}"`;
}

function isErrno(error: unknown, ...names: readonly string[]): boolean {
  return names.includes(String((error as { code?: unknown }).code));
}
