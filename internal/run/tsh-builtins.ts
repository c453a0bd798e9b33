// The words that tsh answers itself. None of them runs anything; those that name a tool to be loaded
// ask first whether the agent may run it, so that nothing is shown that it may not use.

import { fail, isObjectName } from "../abi/mod.ts";
import { visibleTools } from "../authority/mod.ts";
import type { RunContext } from "../session/mod.ts";
import {
  type Change,
  effectiveBounds,
  isLoaded,
  load,
  pin,
  pinnedToolsMax,
  type ToolContext,
  type ToolContextBounds,
  toolContextBytesMax,
  toolContextText,
  toolLine,
  unload,
  unpin,
} from "../tool-context/mod.ts";
import { loadAgent } from "../tree/mod.ts";
import { allowedTool, nameCharsMax } from "./allowed-tool.ts";
import type { ExecutorOptions } from "./environment.ts";
import { toolListing } from "./offer.ts";
import { heldTools, keepTools, loadableTools, shellBounds } from "./tool-memory.ts";
import { type TshCommand, tshTool } from "./tsh.ts";

type Host = Pick<ExecutorOptions, "tree" | "server">;

/** What the words ask, as text. Throws the coded reason of a refusal, and has changed nothing then. */
export function answerBuiltin(
  host: Host,
  context: RunContext,
  command: Exclude<TshCommand, { kind: "tool" }>,
): string {
  const { tree, server } = host;
  const { agent } = context;
  switch (command.kind) {
    case "tools": {
      const controls = loadAgent(tree, agent);
      return toolListing(visibleTools({ tree, agent, controls, server }));
    }
    case "which":
      return allowedTool(host, agent, loadAgent(tree, agent), command.name).viewPath;
    case "help": {
      const tool = allowedTool(host, agent, loadAgent(tree, agent), command.name);
      return `${tool.name}: ${tool.description}\n${JSON.stringify(tool.schema, null, 2)}`;
    }
    case "loads":
      return listLoaded(host, context);
    default:
      return change(host, context, command.kind, command.names);
  }
}

type Verb = "load" | "pin" | "unload" | "unpin";

/** All names or none: what cannot be done to one of them is done to nobody. */
function change(host: Host, context: RunContext, verb: Verb, names: readonly string[]): string {
  const bounds = shellBounds(host.tree);
  for (const name of names) checkName(name);
  if (verb === "load" || verb === "pin") {
    const controls = loadAgent(host.tree, context.agent);
    for (const name of names) allowedTool(host, context.agent, controls, name);
  }
  const before = heldTools(context, bounds);
  const after = names.reduce((state, name) => changed(verb, state, name, bounds).state, before);
  keepTools(context, after);
  const isGone = (name: string) => !isLoaded(after, name) && !names.includes(name);
  const unloaded = [...before.pinned, ...before.loaded].filter(isGone);
  return [...names.map((name) => report(verb, name, after)), ...unloaded.map(madeRoom)].join("\n");
}

function checkName(name: string): void {
  const shown = JSON.stringify(name.slice(0, nameCharsMax));
  if (!isObjectName(name)) fail("EINVAL", `tool name ${shown} is not valid`);
  if (name === tshTool.name) fail("EINVAL", "tsh is always there and cannot be loaded");
}

function changed(verb: Verb, state: ToolContext, name: string, bounds: ToolContextBounds): Change {
  switch (verb) {
    case "load":
      return load(state, name, bounds);
    case "pin":
      return pin(state, name, bounds);
    case "unpin":
      return unpin(state, name, bounds);
    case "unload":
      return { state: unload(state, name), unloaded: [] };
  }
}

function report(verb: Verb, name: string, after: ToolContext): string {
  // More names than fit push the first of them out again.
  if (verb !== "unload" && !isLoaded(after, name)) return `${name} is unloaded to make room`;
  const said: Readonly<Record<Verb, string>> = {
    load: "is loaded",
    pin: "is pinned",
    unload: "is unloaded",
    unpin: "is loaded and not pinned any more",
  };
  return `${name} ${said[verb]}`;
}

const madeRoom = (name: string) => `${name} is unloaded to make room`;

/** What is loaded, how large it is, and the bounds. */
function listLoaded(host: Host, context: RunContext): string {
  const bounds = effectiveBounds(shellBounds(host.tree));
  const state = heldTools(context, bounds);
  const tools = loadableTools(host, context.agent);
  const allowed = new Map(tools.map((tool) => [tool.name, tool]));
  const row = (name: string, word: string) => {
    const tool = allowed.get(name);
    const size = tool && `${Buffer.byteLength(toolLine(tool, word === "pinned"))} bytes`;
    return `${word}\t${name}\t${size ?? "not allowed now, not shown"}`;
  };
  const { window, probation, protected: kept } = state.tracking;
  const tracked = window.length + probation.length + kept.length;
  const shown = Buffer.byteLength(toolContextText(state, tools));
  return [
    ...state.pinned.map((name) => row(name, "pinned")),
    ...state.loaded.toSorted().map((name) => row(name, "loaded")),
    `loaded ${state.loaded.length} of ${bounds.maxLoadedTools}, ` +
      `pinned ${state.pinned.length} of ${pinnedToolsMax}, ` +
      `tracked ${tracked} of ${bounds.cacheCapacity}, window ${bounds.windowPercent}%`,
    `the prompt is given ${shown} of ${toolContextBytesMax} bytes`,
  ].join("\n");
}
