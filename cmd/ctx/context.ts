// What a command that works on the tree stands on: its places, the open tree, and for an agent its
// owner. Root who acts on somebody's agent becomes that owner first: the server gives uid 0 only
// status and cancel, and nothing below an agent's home may be opened with root's rights.

import { fail } from "../../internal/abi/mod.ts";
import {
  loadAgent,
  openTree,
  type Places,
  resolvePlaces,
  type Tree,
} from "../../internal/tree/mod.ts";
import type { Arguments } from "./command.ts";

type AgentControls = ReturnType<typeof loadAgent>;

export interface Context {
  readonly places: Places;
  readonly tree: Tree;
}

export interface AgentContext extends Context {
  readonly agent: string;
  readonly controls: AgentControls;
  /** Host path of the agent's home, `home/<uid>/agent/<agent>`. */
  readonly home: string;
}

export function callerUid(): number {
  return process.getuid?.() ?? 0;
}

export function placesOf(args: Arguments): Places {
  return resolvePlaces({ source: args.text("source"), env: process.env, uid: callerUid() });
}

export function openContext(args: Arguments): Context {
  const places = placesOf(args);
  return { places, tree: openTree(places.source) };
}

/** Opens the tree and the agent with the caller's identity. ENOENT, or what is wrong with it. */
export function loadAgentContext(args: Arguments, agent: string): AgentContext {
  const context = openContext(args);
  const controls = loadAgent(context.tree, agent);
  const home = `${context.tree.source}/home/${controls.owner}/agent/${agent}`;
  return { ...context, agent, controls, home };
}

/** `loadAgentContext`, and a caller who is root becomes the agent's owner. */
export function openAgent(args: Arguments, agent: string): AgentContext {
  const context = loadAgentContext(args, agent);
  becomeOwner(context.controls.owner, context.controls.gid);
  return context;
}

/** Gives up root's identity for good. No effect for other callers and for agents of root. */
export function becomeOwner(uid: number, gid: number): void {
  if (callerUid() !== 0 || uid === 0) return;
  const { setgroups, setgid, setuid } = process;
  if (!setgroups || !setgid || !setuid) {
    fail("EIO", `cannot become uid ${uid}: this build cannot change its identity`);
  }
  setgroups([]);
  setgid(gid);
  setuid(uid);
  if (callerUid() !== uid || process.geteuid?.() !== uid || process.getgid?.() !== gid) {
    fail("EIO", `cannot become uid ${uid}: the kernel kept the identity`);
  }
}
