// Reads the facts that a decision looks at, anew for every question, so that a changed file holds
// from the next call on. It decides nothing: what cannot be read becomes a fact too.

import { dirname } from "node:path/posix";
import { CodedError, coded, fail, isObjectName, parseModelRef } from "../abi/mod.ts";
import { type AgentControls, formatPerm } from "../control/mod.ts";
import { acceptedDefinition, replacementFault } from "../install/mod.ts";
import { statBeneath } from "../os/mod.ts";
import { loadModel, loadTool, type ToolObject, type Tree, viewToSource } from "../tree/mod.ts";
import { definerOf } from "./definer.ts";
import type { Facts, ModeFacts, PathFacts, Question, ToolFacts } from "./types.ts";

export interface Server {
  readonly uid: number;
  /** The process's own when it is left out. */
  readonly gid?: number;
  readonly groups: readonly number[];
  readonly rootAgents: boolean;
}

export interface GatherInput {
  readonly tree: Tree;
  readonly agent: string;
  readonly controls: AgentControls;
  readonly server: Server;
  readonly question: Question;
}

export function gatherFacts(input: GatherInput): Facts {
  return gather(input).facts;
}

/** What the facts of every question about one agent have in common. */
export type AgentFacts = Omit<Facts, "tool" | "modelPolicy" | "exists">;

export function agentFacts(input: Omit<GatherInput, "question">): AgentFacts {
  const { tree, agent, controls, server } = input;
  const folder = `agent/${agent}.d`;
  return {
    agent,
    controls: folder,
    identity: {
      uid: controls.uid,
      gid: controls.gid,
      groups: controls.groups,
      serverUid: server.uid,
      serverGid: server.gid ?? process.getegid?.() ?? server.uid,
      serverGroups: server.groups,
      rootAgents: server.rootAgents,
      definer: server.uid === 0 ? definerOf(tree, agent) : undefined,
    },
    perm: controls.perm,
    permText: formatPerm(controls.perm),
    subject: controls.label.type,
    policy: controls.policy,
    policyFile: `${folder}/policy`,
    permFile: `${folder}/perm`,
    labelFile: `${folder}/label`,
    mounts: controls.mount,
  };
}

/**
 * The facts, and the tool that they are about, from the same reading of its files. `common` spares
 * several questions of the same moment the reading of what they share.
 */
export function gather(
  input: GatherInput,
  common: AgentFacts = agentFacts(input),
): { facts: Facts; tool: ToolObject | undefined } {
  const { tree, controls, question } = input;
  const { object } = question;
  const search = object.class === "tool" ? searchTool(tree, controls.path, object.name) : undefined;
  const facts: Facts = {
    ...common,
    tool: search?.facts,
    modelPolicy: undefined,
    exists: search ? search.facts.search.some(({ found }) => isThere(found)) : true,
  };
  if (search) return { facts, tool: search.tool };
  return { facts: { ...facts, ...gatherObject(tree, question) }, tool: undefined };
}

const isThere = (found: PathFacts["found"]) => found !== "absent" && found !== "unreachable";

/** What must exist for the question to make sense. Sessions and new agents need not. */
function gatherObject(tree: Tree, question: Question): Pick<Facts, "exists" | "modelPolicy"> {
  const { object, permission } = question;
  const modelPolicy = undefined;
  switch (object.class) {
    case "model":
      return gatherModel(tree, object.name);
    case "shared":
      return { exists: present(tree, `shared/${object.name}`), modelPolicy };
    case "agent": {
      const exists = permission === "create" || present(tree, `agent/${object.name}`);
      return { exists, modelPolicy };
    }
    default:
      return { exists: true, modelPolicy };
  }
}

function gatherModel(tree: Tree, name: string): Pick<Facts, "exists" | "modelPolicy"> {
  const ref = parseModelRef(name) ?? fail("EINVAL", `model "${name}" is not provider/model`);
  try {
    const { policy, policyFile } = loadModel(tree, ref);
    return { exists: true, modelPolicy: policy && { file: policyFile, policy } };
  } catch (error) {
    // A malformed control is an error of its own and names its place; only absence is a fact.
    if (error instanceof CodedError && error.code === "ENOENT") {
      return { exists: false, modelPolicy: undefined };
    }
    throw error;
  }
}

function present(tree: Tree, relative: string): boolean {
  try {
    statBeneath(tree.folder, relative);
    return true;
  } catch {
    return false;
  }
}

interface Search {
  readonly facts: ToolFacts;
  readonly tool: ToolObject | undefined;
}

/** Walks CTX_PATH up to and including the first executable regular file of that name. */
function searchTool(tree: Tree, path: readonly string[], name: string): Search {
  const search: PathFacts[] = [];
  for (const folder of path) {
    const found = lookAt(tree, folder, name);
    search.push({ folder, found });
    if (found === "executable") return describeTool(tree, folder, name, search);
  }
  const facts = { search, path: undefined, modes: [], policy: undefined, defect: undefined };
  return { facts: { ...facts, policyFile: `tool/${name}.d/policy` }, tool: undefined };
}

function lookAt(tree: Tree, folder: string, name: string): PathFacts["found"] {
  const relative = viewToSource(folder);
  if (relative === undefined || !isObjectName(name)) return "unreachable";
  try {
    const facts = statBeneath(tree.folder, `${relative}/${name}`);
    if (!facts.isFile()) return "not_regular";
    return (facts.mode & 0o111) === 0 ? "not_executable" : "executable";
  } catch (error) {
    const { code } = error as { code?: string };
    // No component may be a symlink: where one leads is not for a tree that agents write to say.
    if (code === "ELOOP") return "not_regular";
    return code === "ENOENT" ? "absent" : "unreachable";
  }
}

function describeTool(
  tree: Tree,
  folder: string,
  name: string,
  search: readonly PathFacts[],
): Search {
  const path = `${folder}/${name}`;
  const policyFile = `${viewToSource(folder)}/${name}.d/policy`;
  let modes: readonly ModeFacts[] = [];
  try {
    modes = modesOf(tree, path);
    const tool = loadTool(tree, folder, name);
    const { policy } = tool;
    const defect = unaccepted(tree, tool);
    const facts = { search, path, modes, policy, policyFile: tool.policyFile, defect };
    return { facts, tool: defect === undefined ? tool : undefined };
  } catch (error) {
    const defect = error instanceof Error ? error.message : String(error);
    const facts = { search, path, modes, policy: undefined, policyFile, defect };
    return { facts, tool: undefined };
  }
}

/** Why a tool is not the one that somebody installed, be it a server's or half replaced. */
function unaccepted(tree: Tree, tool: ToolObject): string | undefined {
  if (tool.builtin) return undefined;
  if (tool.mcp === undefined) return replacementFault(tree, viewToSource(tool.viewPath) ?? "");
  try {
    acceptedDefinition(tree, tool);
    return undefined;
  } catch (error) {
    const { message, hint } = coded(error);
    return hint === undefined ? message : `${message}; ${hint}`;
  }
}

/** Mode facts of the folders below the view's root, which is always searchable, then of the file. */
export function modesOf(tree: Tree, path: string): ModeFacts[] {
  const places: string[] = [];
  for (let at = path; at !== "/ctx"; at = dirname(at)) places.unshift(at);
  return places.map((place) => {
    const { uid, gid, mode } = statBeneath(tree.folder, viewToSource(place) ?? ".");
    return { path: place, uid, gid, mode };
  });
}
