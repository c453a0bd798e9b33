// Making an agent appear, whole or not at all. Everything is staged in a folder of a name that no
// object has and synced; the controls get their name first, with the executable still inside them,
// and the executable last, each by a rename that replaces nothing. A folder of controls that holds
// the staged executable and stands alone is therefore what a cut run left, and the next one takes it
// away; one that a person left is never touched.

import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { CodedError, coded, fail, objectName, quoted } from "../abi/mod.ts";
import {
  type FileOwner,
  openBeneath,
  renameNoReplace,
  throughFolder,
  tryLock,
  writeAll,
} from "../os/mod.ts";
import type { ControlTexts } from "./agent-plan.ts";
import { type AgentProgram, copyProgram } from "./agent-program.ts";
import { factsBeneath } from "./beneath.ts";
import { objectFile } from "./object-file.ts";
import type { Tree } from "./open.ts";

/** What becomes `agent/<name>`: a copy of a program, or the line that runs a model agent. */
export type AgentExecutable =
  | { readonly kind: "program"; readonly program: AgentProgram }
  | { readonly kind: "model"; readonly description: string | undefined };

export interface NewAgent {
  readonly name: string;
  readonly owner: FileOwner;
  readonly controls: ControlTexts;
  readonly executable: AgentExecutable;
}

/** The runtime's own controls, as a new agent has them. */
const runtimeControls = { status: "idle\n", pid: "", log: "", "meta.json": "{}\n" };

/** The executable while it waits in its folder of controls; no control has such a name. */
const stagedExecutable = ".executable.new";

/** Milliseconds to wait for another command that makes or changes an agent. Past it `busy`. */
const agentLockMs = 10_000;

/** Pause between two looks at the lock, in milliseconds. */
const agentLockPauseMs = 10;

/** Throws why an agent of this name cannot be made now; used before anything is asked or read. */
export function checkNameFree(tree: Tree, name: string): void {
  objectName("agent", name);
  withAgentFolder(tree, (folder) => checkFree(folder, name));
}

/** Throws EEXIST when the name is taken, `busy` when another command is at work for too long. */
export function publishAgent(tree: Tree, agent: NewAgent): void {
  try {
    withAgentLock(tree, (folder) => {
      sweepStaged(folder);
      checkFree(folder, agent.name);
      removeCut(folder, agent.name);
      publish(tree, folder, agent);
    });
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { code, message } = coded(error);
    fail(code, `cannot make agent ${quoted(agent.name)}: ${message}`, { cause: error });
  }
}

function withAgentFolder<T>(tree: Tree, work: (folder: number) => T): T {
  const folder = openBeneath(tree.folder, "agent", "folder");
  try {
    return work(folder);
  } finally {
    closeSync(folder);
  }
}

/** Runs `work` while no other command makes or changes an agent of this tree. */
export function withAgentLock<T>(tree: Tree, work: (folder: number) => T): T {
  return withAgentFolder(tree, (folder) => {
    const deadline = performance.now() + agentLockMs;
    while (!tryLock(folder)) {
      if (performance.now() > deadline) {
        fail("busy", "another command makes or changes an agent of this tree", {
          hint: "try again when it has ended",
        });
      }
      Bun.sleepSync(agentLockPauseMs);
    }
    return work(folder);
  });
}

function checkFree(folder: number, name: string): void {
  const facts = factsBeneath(folder, name);
  if (facts !== undefined) {
    fail("EEXIST", `agent ${quoted(name)} exists already`, {
      hint: "change it with ctx agent apply, or choose another name",
    });
  }
  if (factsBeneath(folder, `${name}.d`) === undefined || isCut(folder, name)) return;
  fail("EEXIST", `"agent/${name}.d" is there already, without an agent`, {
    hint: "move it away, or choose another name",
  });
}

function isCut(folder: number, name: string): boolean {
  if (!factsBeneath(folder, `${name}.d`)?.isDirectory()) return false;
  return factsBeneath(folder, `${name}.d/${stagedExecutable}`)?.isFile() === true;
}

function stagingName(name: string): string {
  return `.${name}.${crypto.getRandomValues(new Uint8Array(6)).toHex()}.new`;
}

/** Under the lock no other run can be at work, so whatever is staged was left by a cut one. */
function sweepStaged(folder: number): void {
  for (const name of readdirSync(`/proc/self/fd/${folder}`)) {
    if (/^\..+\.[0-9a-f]{12}\.new$/.test(name)) removeBeneath(folder, name);
  }
}

/** Out of sight first, so that a second cut leaves what the next sweep takes away. */
function removeCut(folder: number, name: string): void {
  if (!isCut(folder, name)) return;
  const staged = stagingName(name);
  renameSync(throughFolder(folder, `${name}.d`), throughFolder(folder, staged));
  removeBeneath(folder, staged);
}

/** Removes a file, link or whole folder; no symlink is followed, whoever owns the folders. */
function removeBeneath(parent: number, name: string): void {
  const path = throughFolder(parent, name);
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return;
  if (!facts.isDirectory()) {
    unlinkSync(path);
    return;
  }
  const folder = openBeneath(parent, name, "folder");
  try {
    for (const inside of readdirSync(`/proc/self/fd/${folder}`)) removeBeneath(folder, inside);
  } finally {
    closeSync(folder);
  }
  rmdirSync(path);
}

function publish(tree: Tree, folder: number, agent: NewAgent): void {
  const { name } = agent;
  const staged = stagingName(name);
  mkdirSync(throughFolder(folder, staged), { mode: 0o700 });
  try {
    const controls = openBeneath(folder, staged, "folder");
    try {
      fill(tree, controls, agent);
      renameNoReplace(folder, staged, folder, `${name}.d`);
      fsyncSync(folder);
      renameNoReplace(controls, stagedExecutable, folder, name);
      fsyncSync(controls);
      fsyncSync(folder);
    } finally {
      closeSync(controls);
    }
  } catch (error) {
    removeBeneath(folder, staged);
    removeCut(folder, name);
    throw error;
  }
}

function fill(tree: Tree, controls: number, agent: NewAgent): void {
  const { owner, executable } = agent;
  const write = (text: string) => (fd: number) => writeAll(fd, new TextEncoder().encode(text));
  for (const [control, text] of [...agent.controls, ...Object.entries(runtimeControls)]) {
    makeFile(controls, control, 0o644, owner, write(text));
  }
  const content =
    executable.kind === "program"
      ? (fd: number) => copyProgram(executable.program, fd)
      : write(modelObject(tree, agent.name, executable.description));
  makeFile(controls, stagedExecutable, 0o755, owner, content);
  mkdirSync(throughFolder(controls, "hooks"), { mode: 0o700 });
  const hooks = openBeneath(controls, "hooks", "folder");
  try {
    for (const name of ["pre.d", "post.d"]) {
      mkdirSync(throughFolder(hooks, name), { mode: 0o700 });
      const made = openBeneath(hooks, name, "folder");
      try {
        settle(made, 0o755, owner);
      } finally {
        closeSync(made);
      }
    }
    settle(hooks, 0o755, owner);
  } finally {
    closeSync(hooks);
  }
  settle(controls, 0o755, owner);
}

function modelObject(tree: Tree, name: string, description: string | undefined): string {
  const about = description === undefined ? {} : { description };
  return objectFile(tree.source, { class: "agent", name, ...about, controls: `${name}.d` });
}

function makeFile(
  folder: number,
  name: string,
  mode: number,
  owner: FileOwner,
  content: (fd: number) => void,
): void {
  const fd = openBeneath(folder, name, "create", 0o600);
  try {
    content(fd);
    settle(fd, mode, owner);
  } finally {
    closeSync(fd);
  }
}

/** Owner, mode and content for good. */
function settle(fd: number, mode: number, owner: FileOwner): void {
  const mine = owner.uid === process.geteuid?.() && owner.gid === process.getegid?.();
  if (!mine) fchownSync(fd, owner.uid, owner.gid);
  fchmodSync(fd, mode);
  fsyncSync(fd);
}
