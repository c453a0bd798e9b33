// The program of an executable agent: the very file that was looked at, and whether the kernel will
// be able to start it where the agent sees it. What is missing there is said in words, instead of an
// exit status that could be the program's own.

import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { basename, relative } from "node:path";
import { CodedError, coded, fail } from "../abi/mod.ts";
import type { StandingSandbox } from "../bwrap/mod.ts";
import { openBeneath, openInRoot } from "../os/mod.ts";
import type { Tree } from "../tree/mod.ts";
import type { Expectation } from "./expectation.ts";
import type { StepRequest } from "./step-types.ts";

/** What the kernel reads of a first line (BINPRM_BUF_SIZE). */
const headBytes = 256;

/** Where execvp(3) of glibc looks when PATH is not set. */
const standardPath = "/bin:/usr/bin";

export interface AgentProgramPlan extends Expectation {
  readonly host: string;
  /** Its path in the tree, for messages. */
  readonly object: string;
  /** The words after `#!`; none for a compiled program. */
  readonly firstLine: readonly string[];
}

/** Throws EACCES for what is no executable regular file, ENOENT when there is none. */
export function agentProgram(
  tree: Tree,
  { agent, program }: Pick<StepRequest, "agent" | "program">,
): AgentProgramPlan {
  const { viewPath: view, hostPath: host } = program;
  if (view !== `/ctx/agent/${agent}`) fail("EINVAL", `"${view}" is no program of "${agent}"`);
  const object = relative(tree.source, host);
  const fd = opened(tree, object);
  try {
    const { dev, ino, mode } = fstatSync(fd, { bigint: true });
    const what = `program "${object}"`;
    if (!fstatSync(fd).isFile()) fail("EACCES", `${what} is not a regular file`);
    if ((mode & 0o111n) === 0n) {
      fail("EACCES", `${what} is not executable`, { hint: `chmod +x ${host}` });
    }
    return { view, host, object, dev, ino, firstLine: firstLine(tree, object) };
  } finally {
    closeSync(fd);
  }
}

function opened(tree: Tree, object: string): number {
  try {
    return openBeneath(tree.folder, object, "path");
  } catch (error) {
    const { code, message } = coded(error);
    return fail(code, `cannot use program "${object}": ${message}`, { cause: error });
  }
}

/** A program that may be executed and not read has none that could be known. */
function firstLine(tree: Tree, object: string): readonly string[] {
  const head = Buffer.alloc(headBytes);
  let length = 0;
  try {
    const fd = openBeneath(tree.folder, object, "read");
    try {
      length = readSync(fd, head, 0, headBytes, 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    return [];
  }
  const line = /^#![ \t]*([^\n]*)/.exec(head.toString("latin1", 0, length))?.[1] ?? "";
  return line.split(/[ \t\r]+/).filter((word) => word !== "");
}

/** Throws the reason why the program could not be started in the sandbox that stands. */
export function checkStartable(
  { init }: StandingSandbox,
  { view, object, firstLine }: AgentProgramPlan,
  env: ReadonlyMap<string, string>,
): void {
  if (mountOptions(init.pid, view).includes("noexec")) {
    fail("EACCES", `program "${object}" cannot be executed: its file system is mounted noexec`);
  }
  const [interpreter, ...words] = firstLine;
  if (interpreter === undefined) return;
  const root = openSync(`/proc/${init.pid}/root`, "r");
  try {
    const missing = missingInterpreter(root, interpreter, words, env);
    if (missing === undefined) return;
    fail("ENOENT", `program "${object}" cannot be started: ${missing} in the sandbox`, {
      hint: "a sandbox has the host's /usr; change the first line, or bind the rest by a mount line",
    });
  } finally {
    closeSync(root);
  }
}

function mountOptions(pid: number, view: string): readonly string[] {
  const line = readFileSync(`/proc/${pid}/mountinfo`, "utf8")
    .split("\n")
    .findLast((each) => each.split(" ")[4] === view);
  return line?.split(" ")[5]?.split(",") ?? [];
}

function missingInterpreter(
  root: number,
  interpreter: string,
  words: readonly string[],
  env: ReadonlyMap<string, string>,
): string | undefined {
  if (!exists(root, interpreter)) return `there is no "${interpreter}"`;
  if (basename(interpreter) !== "env") return undefined;
  const name = words.find((word) => !word.startsWith("-") && !word.includes("="));
  if (name === undefined || name.includes("/")) return undefined;
  const path = env.get("PATH") ?? standardPath;
  const found = path.split(":").some((folder) => exists(root, `${folder}/${name}`));
  return found ? undefined : `there is no "${name}" in ${path}`;
}

/** Relative paths depend on the working folder and are left to the kernel. */
function exists(root: number, path: string): boolean {
  if (!path.startsWith("/")) return true;
  try {
    closeSync(openInRoot(root, path));
    return true;
  } catch (error) {
    // What may not be looked at is not known to be missing.
    return !["ENOENT", "ENOTDIR"].includes(coded(error).code);
  }
}

/** A shell's two words for "could not be executed" and "a file is missing". */
const notExecutable = 126;
const notFound = 127;

/** Why nothing ran, where only the gate could tell: its complaint is all that came. */
export function unstarted(
  { object }: AgentProgramPlan,
  uid: number,
  exit: number,
  stderr: string,
): CodedError | undefined {
  if (!stderr.startsWith("gate: ")) return undefined;
  if (exit === notExecutable) {
    return new CodedError("EACCES", `program "${object}" cannot be executed by uid ${uid}`);
  }
  if (exit !== notFound) return undefined;
  const what = "a file that it needs, such as its loader, is not in the sandbox";
  return new CodedError("ENOENT", `program "${object}" cannot be started: ${what}`);
}
