// An agent's controls as one value. Looked at anew each time: a changed control holds for the next run.

import { CodedError, fail, objectName, quoted } from "../abi/mod.ts";
import {
  type AgentControls,
  type AgentControlValues,
  agentControls,
  type ControlRow,
  type Parsed,
} from "../control/mod.ts";
import { policyOf } from "../policy/mod.ts";
import { parsedValue, readControl, readOptional } from "./control-file.ts";
import type { Tree } from "./open.ts";
import { factsSeen, textSeen } from "./sight.ts";
import { type Sight, whileSame } from "./value-cache.ts";

/**
 * Throws ENOENT when there is no such agent or a required control is missing, EINVAL with file,
 * line and column for a malformed one, EMSGSIZE for one that is too large.
 */
export function loadAgent(tree: Tree, name: string): AgentControls {
  const folder = `agent/${objectName("agent", name)}.d`;
  const places = () => [
    { folder: "agent", names: [name, `${name}.d`] },
    { folder, names: loaded },
  ];
  return whileSame(tree, folder, places, (sight) => agentAt(tree, name, folder, sight));
}

/** Every control that is read here: another text of one of them makes another agent. */
const loaded = [
  ...(["owner", "uid", "gid", "groups", "perm", "label", "iso", "parent", "life", "root"] as const),
  ...(["cwd", "env", "path", "mount", "model", "window", "policy", "tools", "abi"] as const),
  "approval",
] as const;

type Loaded = (typeof loaded)[number];

function agentAt(tree: Tree, name: string, folder: string, sight: Sight): AgentControls {
  checkAgent(tree, name, sight);
  const read = reader(tree, name, folder, sight);
  const owner = read("owner");
  return {
    owner,
    uid: read("uid") ?? owner,
    gid: read("gid") ?? owner,
    groups: read("groups"),
    perm: read("perm"),
    label: read("label"),
    iso: read("iso"),
    parent: read("parent"),
    life: read("life"),
    root: read("root"),
    cwd: read("cwd"),
    env: read("env"),
    path: read("path"),
    mount: read("mount"),
    model: read("model"),
    window: read("window"),
    policy: policyOf(read("policy")),
    tools: read("tools"),
    abi: read("abi"),
    approval: read("approval"),
  };
}

/** Controls whose absence has no value in the table: another control, or nothing, stands for it. */
type MaybeAbsent = "uid" | "gid" | "parent";

interface Read {
  <N extends MaybeAbsent>(control: N): AgentControlValues[N] | undefined;
  <N extends Exclude<Loaded, MaybeAbsent>>(control: N): AgentControlValues[N];
}

function reader(tree: Tree, agent: string, folder: string, sight: Sight): Read {
  return ((control: Loaded) => {
    const row: ControlRow<unknown> = agentControls[control];
    const file = `${folder}/${control}`;
    const text = textSeen(tree, sight, folder, control);
    if (text !== undefined) return parsedValue(parsed(control, row, text), file);
    if (!row.required) return row.absent;
    return fail("ENOENT", `agent ${quoted(agent)} has no control ${quoted(control)}`, {
      hint: `write ${file}, or run ctx bootstrap for an agent that it made`,
    });
  }) as Read;
}

/** Texts whose values are remembered, of all controls. Past it the oldest is forgotten. */
const rememberedMax = 1024;

/** Characters of a text whose value is remembered. */
const rememberedCharsMax = 8192;

const remembered = new Map<string, Parsed<unknown>>();

/** The same text has the same value, which nobody changes: a decision reads all controls again. */
function parsed(control: string, row: ControlRow<unknown>, text: string): Parsed<unknown> {
  const key = `${control}\0${text}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const made = row.parse(text);
  if (!made.ok || text.length > rememberedCharsMax) return made;
  if (remembered.size >= rememberedMax) remembered.delete(remembered.keys().next().value as string);
  remembered.set(key, made);
  return made;
}

function checkAgent(tree: Tree, name: string, sight: Sight): void {
  const facts = factsSeen(tree, sight, "agent", name);
  if (facts === undefined || factsSeen(tree, sight, "agent", `${name}.d`) === undefined) {
    fail("ENOENT", `agent ${quoted(name)} does not exist`, { hint: "see ctx agent list" });
  }
  if (facts.kind !== "file" || (facts.mode & 0o111) === 0) {
    fail("EACCES", `agent ${quoted(name)} is not an executable file`);
  }
}

/** Text of a prompt control, `system.md` or `prompt.template.md`; undefined when there is none. */
export function agentText(
  tree: Tree,
  name: string,
  control: "system.md" | "prompt.template.md",
): string | undefined {
  const file = `agent/${objectName("agent", name)}.d/${control}`;
  const row: ControlRow<string> = agentControls[control];
  const text = readOptional(tree, file);
  return text === undefined ? undefined : parsedValue(row.parse(text), file);
}

/** True for an agent whose loop is host code: its first line runs the common object runner. */
export function isModelAgent(tree: Tree, name: string): boolean {
  return runsObjectRunner(readHead(tree, `agent/${objectName("agent", name)}`));
}

/** The first line of an object that is run by `ctx` itself, in a tree or in a sandbox's view. */
export function runsObjectRunner(head: string): boolean {
  return /^#!\/\S*\/bin\/ctx exec\n/.test(head);
}

/** The object's text; empty when it cannot be read as text, as a compiled program cannot. */
export function readHead(tree: Tree, relative: string, read = readControl): string {
  try {
    return read(tree, relative);
  } catch (error) {
    if (error instanceof CodedError && ["EINVAL", "EMSGSIZE", "EACCES"].includes(error.code))
      return "";
    throw error;
  }
}
