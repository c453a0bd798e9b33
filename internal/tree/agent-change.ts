// Making an agent that exists equal to what is said about it. What is not said is kept. The whole
// after the change is judged before anything is written; then each control is replaced by itself, in
// an order in which a window and a model that may not stand together never do, so that a cut run is
// completed by the same command again.

import { closeSync, fchmodSync, fchownSync, fsyncSync, renameSync } from "node:fs";
import { CodedError, coded, fail, quoted } from "../abi/mod.ts";
import { type AgentControlName, agentControls } from "../control/mod.ts";
import { openBeneath, temporaryName, throughFolder } from "../os/mod.ts";
import { readHead, runsObjectRunner } from "./agent.ts";
import type { AgentDescription } from "./agent-description.ts";
import { type ControlTexts, checkGiven, checkState, type PlanContext } from "./agent-plan.ts";
import { type AgentProgram, copyProgram, digestOfFile } from "./agent-program.ts";
import { withAgentLock } from "./agent-publish.ts";
import { dropBeneath, factsBeneath, syncBeneath, writeBeneath } from "./beneath.ts";
import { parsedValue, readControl, readOptional, writeControl } from "./control-file.ts";
import { objectMetadata } from "./object-file.ts";
import type { Tree } from "./open.ts";

/** One control, the description or the program. `before` undefined: it is absent now. */
export interface AgentChange {
  readonly what: AgentControlName | "description" | "program";
  readonly before: string | undefined;
  /** For a program its SHA-256. */
  readonly after: string;
}

/**
 * What would change, and every control as it would be. Throws what is wrong with what was said, with
 * its place, and with any control that is kept.
 */
export function planChange(
  context: PlanContext,
  name: string,
  description: AgentDescription,
): { readonly changes: readonly AgentChange[]; readonly controls: ControlTexts } {
  const { tree } = context;
  const object = `agent/${name}`;
  if (!factsBeneath(tree.folder, object)?.isFile()) {
    fail("ENOENT", `agent ${quoted(name)} does not exist`, { hint: "see ctx agent list" });
  }
  checkGiven(context, description);
  const changes: AgentChange[] = [];
  const controls = new Map<AgentControlName, string>();
  for (const [key, row] of Object.entries(agentControls)) {
    if (row.runtimeOwned) continue;
    const control = key as AgentControlName;
    const file = `${object}.d/${control}`;
    const given = description.controls.get(control)?.text;
    const before = given === undefined ? readOptional(tree, file) : presentText(tree, file);
    const after = given ?? before;
    if (after === undefined) {
      if (row.required) fail("ENOENT", `agent ${quoted(name)} has no control ${quoted(control)}`);
      continue;
    }
    if (given === undefined) parsedValue<unknown>(row.parse(after), file);
    else if (before !== given) changes.push({ what: control, before, after: given });
    controls.set(control, after);
  }
  checkState(context, controls, description);
  changes.push(...objectChanges(tree, object, description));
  return { changes, controls };
}

/** A control that is about to be replaced may hold anything, also what is no text. */
function presentText(tree: Tree, file: string): string | undefined {
  try {
    return readOptional(tree, file);
  } catch (error) {
    const { code, message } = coded(error);
    if (code !== "EINVAL" && code !== "EMSGSIZE") throw error;
    return `(${message})\n`;
  }
}

function objectChanges(
  tree: Tree,
  object: string,
  { description, program }: AgentDescription,
): AgentChange[] {
  const head = readHead(tree, object);
  if (program !== undefined) {
    const before = digestBeneath(tree, object);
    if (description !== undefined) refuseDescription(description.place(1, 1));
    return before === program.digest ? [] : [{ what: "program", before, after: program.digest }];
  }
  if (description === undefined) return [];
  if (!runsObjectRunner(head)) refuseDescription(description.place(1, 1));
  const before = objectMetadata(head).get("description");
  const after = description.text.trim();
  const now = before === undefined ? undefined : `${before}\n`;
  return before === after ? [] : [{ what: "description", before: now, after: `${after}\n` }];
}

/** A description is a line of a model agent's object file; a program has no such file. */
export function refuseDescription(place: { file: string; line: number; column: number }): never {
  return fail("EINVAL", "an agent with a program of its own has no description", { place });
}

function digestBeneath(tree: Tree, object: string): string {
  const fd = openBeneath(tree.folder, object, "read");
  try {
    return digestOfFile(fd);
  } finally {
    closeSync(fd);
  }
}

/** Writes exactly these changes. Throws `busy` when the agent is no longer as they were planned. */
export function applyChange(
  context: PlanContext,
  name: string,
  description: AgentDescription,
  changes: readonly AgentChange[],
): void {
  const { tree } = context;
  withAgentLock(tree, (folder) => {
    const now = planChange(context, name, description).changes;
    if (JSON.stringify(now) !== JSON.stringify(changes)) {
      fail("busy", `agent ${quoted(name)} was changed meanwhile, nothing is written`, {
        hint: "look at the difference again",
      });
    }
    for (const { what, after } of ordered(context, name, changes)) {
      if (what === "program") placeProgram(folder, name, description.program as AgentProgram);
      else if (what === "description") describe(tree, name, after.trim());
      else writeControl(tree, `agent/${name}.d/${what}`, after);
    }
  });
}

/** With a window and a model that change together, the old of one may not fit the new of the other. */
function ordered(
  context: PlanContext,
  name: string,
  changes: readonly AgentChange[],
): readonly AgentChange[] {
  const window = changes.find(({ what }) => what === "window");
  const model = changes.find(({ what }) => what === "model");
  if (window === undefined || model === undefined) return changes;
  const rest = changes.filter((change) => change !== window && change !== model);
  if (fits(context, window.after, readControl(context.tree, `agent/${name}.d/model`))) {
    return [...rest, window, model];
  }
  if (fits(context, window.before ?? "auto\n", model.after)) return [...rest, model, window];
  return [...rest, { ...window, after: "auto\n" }, model, window];
}

function fits(context: PlanContext, window: string, model: string): boolean {
  const texts = new Map<AgentControlName, string>([
    ["window", window],
    ["model", model],
  ]);
  const place = (line: number, column: number) => ({ file: "window", line, column });
  const given = new Map([["window" as const, { text: window, place }]]);
  try {
    checkState(context, texts, { controls: given });
    return true;
  } catch {
    return false;
  }
}

function describe(tree: Tree, name: string, description: string): void {
  const object = `agent/${name}`;
  const facts = factsBeneath(tree.folder, object);
  if (facts === undefined) fail("ENOENT", `agent ${quoted(name)} does not exist`);
  const [first = "", ...rest] = readControl(tree, object).split("\n");
  const line = `# description: ${description}`;
  const at = rest.findIndex((text) => text.startsWith("# description: "));
  if (at >= 0) rest[at] = line;
  else rest.splice(rest.findIndex((text) => text.startsWith("# name: ")) + 1, 0, line);
  const { uid, gid, mode } = facts;
  const mine = uid === process.geteuid?.() && gid === process.getegid?.();
  const text = [first, ...rest].join("\n");
  writeBeneath(tree.folder, object, text, mode & 0o777, mine ? undefined : { uid, gid });
  syncBeneath(tree.folder, ["agent"]);
}

/** Replaces the executable; a process that runs the old one keeps it. */
function placeProgram(folder: number, name: string, program: AgentProgram): void {
  const facts = factsBeneath(folder, name);
  if (facts === undefined) fail("ENOENT", `agent ${quoted(name)} does not exist`);
  const temporary = temporaryName(name);
  try {
    const fd = openBeneath(folder, temporary, "create", 0o600);
    try {
      copyProgram(program, fd);
      const mine = facts.uid === process.geteuid?.() && facts.gid === process.getegid?.();
      if (!mine) fchownSync(fd, facts.uid, facts.gid);
      fchmodSync(fd, facts.mode & 0o777);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(throughFolder(folder, temporary), throughFolder(folder, name));
    fsyncSync(folder);
  } catch (error) {
    dropBeneath(folder, { temporary, relative: name });
    if (error instanceof CodedError) throw error;
    const { code, message } = coded(error);
    fail(code, `cannot replace the program of agent ${quoted(name)}: ${message}`, { cause: error });
  }
}
