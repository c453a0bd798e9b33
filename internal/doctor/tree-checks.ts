// Is the tree a tree, does every control of every object parse, and is any session's log damaged.

import { closeSync, readdirSync } from "node:fs";
import { coded, fail } from "../abi/mod.ts";
import { openBeneath, readBeneath, throughFolder } from "../os/mod.ts";
import {
  agentNames,
  loadAgent,
  loadTool,
  modelNames,
  openTree,
  type Places,
  type Tree,
  toolNames,
  treeOwner,
} from "../tree/mod.ts";
import { type Check, failure, failureOf, warning, well } from "./check.ts";

const rootEntries: readonly string[] = [
  "status",
  "bin",
  "model",
  "agent",
  "tool",
  "home",
  "shared",
];

/** Every check of the tree; without a tree only that it is missing. */
export function treeChecks(places: Places): Check[] {
  let tree: Tree;
  try {
    tree = openTree(places.source);
  } catch (error) {
    return [failureOf("tree", error)];
  }
  try {
    return [
      shape(tree),
      version(tree),
      ...agentChecks(tree, places),
      ...toolChecks(tree),
      sessions(tree),
    ];
  } finally {
    tree.close();
  }
}

function shape(tree: Tree): Check {
  const found = readdirSync(`/proc/self/fd/${tree.folder}`);
  const foreign = found.filter((name) => !rootEntries.includes(name));
  const missing = rootEntries.filter((name) => !found.includes(name));
  if (missing.length > 0) {
    const fix = `run ctx bootstrap "${tree.source}"`;
    return failure("tree", `"${tree.source}" has no ${missing.join(", ")}`, fix);
  }
  if (foreign.length === 0) return well("tree", tree.source);
  const named = foreign
    .slice(0, 8)
    .map((name) => JSON.stringify(name))
    .join(", ");
  return warning("tree", `the root holds ${named}, which no tree has`, "move it elsewhere");
}

function version(tree: Tree): Check {
  try {
    const owner = treeOwner(tree.source);
    if (owner !== undefined) return well("bootstrap", `agents belong to uid ${owner.uid}`);
    const fix = `run ctx bootstrap "${tree.source}"`;
    return warning("bootstrap", "the tree holds no record of a bootstrap", fix);
  } catch (error) {
    return failureOf("bootstrap", error);
  }
}

function agentChecks(tree: Tree, places: Places): Check[] {
  const names = agentNames(tree);
  if (names.length === 0) {
    return [failure("agents", "the tree has no agent", `run ctx bootstrap "${tree.source}"`)];
  }
  const faults = names.flatMap((name) =>
    faultsOf(`agent ${name}`, () => identity(places, name, loadAgent(tree, name))),
  );
  return faults.length > 0 ? faults : [well("agents", names.join(" "))];
}

function toolChecks(tree: Tree): Check[] {
  const names = toolNames(tree, "/ctx/tool");
  const faults = names.flatMap((name) =>
    faultsOf(`tool ${name}`, () => loadTool(tree, "/ctx/tool", name)),
  );
  const models = `${modelNames(tree).length} models`;
  return faults.length > 0 ? faults : [well("objects", `${names.length} tools, ${models}`)];
}

/** A server that is not root can run nothing as somebody else. */
function identity(places: Places, name: string, { uid }: { readonly uid: number }): void {
  if (places.mode === "system" || uid === places.uid) return;
  fail("EACCES", `it has uid ${uid}, which a server of uid ${places.uid} cannot become`, {
    hint: `run ctx set agent/${name}.d/uid ${places.uid}`,
  });
}

function faultsOf(name: string, load: () => unknown): Check[] {
  try {
    load();
    return [];
  } catch (error) {
    return [failureOf(name, error)];
  }
}

/** Bytes of a session's `state`, which is one word. */
const stateBytesMax = 64;

/** Sessions that are named. Those past it are counted. */
const namedMax = 4;

/** Sessions whose last state is `error`. Reads that one small file of each, never a log. */
function sessions(tree: Tree): Check {
  const broken: string[] = [];
  let count = 0;
  try {
    for (const agent of agentNames(tree)) {
      const base = `home/${loadAgent(tree, agent).owner}/agent/${agent}/session`;
      for (const session of foldersIn(tree, base)) {
        if (session === "index") continue;
        count++;
        if (stateOf(tree, `${base}/${session}/state`) === "error")
          broken.push(`${agent}/${session}`);
      }
    }
  } catch (error) {
    const { code, message } = coded(error);
    return warning("sessions", `not all could be looked at: ${message} [${code}]`);
  }
  if (broken.length === 0) return well("sessions", `${count}, none in error`);
  const more = broken.length - namedMax;
  const named = broken.slice(0, namedMax).join(", ") + (more > 0 ? ` and ${more} more` : "");
  const [agent, session] = (broken[0] as string).split("/");
  const fix = `see how it ended with ctx agent resume ${agent} --session ${session}, and go on from there`;
  return failure("sessions", `in error: ${named}`, fix);
}

function foldersIn(tree: Tree, relative: string): string[] {
  let folder: number;
  try {
    folder = openBeneath(tree.folder, relative, "folder");
  } catch (error) {
    if (coded(error).code === "ENOENT") return [];
    throw error;
  }
  try {
    const entries = readdirSync(throughFolder(folder, "."), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } finally {
    closeSync(folder);
  }
}

function stateOf(tree: Tree, relative: string): string {
  try {
    return new TextDecoder().decode(readBeneath(tree.folder, relative, stateBytesMax)).trim();
  } catch {
    return "";
  }
}
