// The tools that a session has loaded, between its runs: read from what the session keeps, changed by
// tsh, touched by every call, and shown to the next step. What is shown is what the agent may run at
// that moment; a tool that it may not run any more is left out without a word.

import { coded, fail, quoted } from "../abi/mod.ts";
import { visibleTools } from "../authority/mod.ts";
import { parseToolControl, type ShellConfig, shellConfigDefault } from "../control/mod.ts";
import type { RunContext } from "../session/mod.ts";
import {
  type DecodedToolContext,
  decodeToolContext,
  encodeToolContext,
  type ToolContext,
  type ToolMetadata,
  toolContextFileBytesMax,
  toolContextText,
  touch,
  within,
} from "../tool-context/mod.ts";
import { loadAgent, readControl, type Tree } from "../tree/mod.ts";
import type { ExecutorOptions } from "./environment.ts";
import { tshTool } from "./tsh.ts";

type Host = Pick<ExecutorOptions, "tree" | "server">;
type Keeper = Pick<RunContext, "agent" | "session" | "readKept" | "keep" | "note">;

/** Name of the file in the session's `context/`. */
const keptName = "tools.json";

const configFile = "tool/tsh.d/config";

/** The bounds of `tsh.d/config`; an absent file sets the defaults. EINVAL with the place. */
export function shellBounds(tree: Tree): ShellConfig {
  let text: string;
  try {
    text = readControl(tree, configFile);
  } catch (error) {
    if (coded(error).code === "ENOENT") return shellConfigDefault;
    throw error;
  }
  const parsed = parseToolControl("config", text);
  if (parsed.ok) return parsed.value;
  const { code, line, column, reason } = parsed;
  return fail(code, `${quoted(configFile)} line ${line}, column ${column}: ${reason}`, {
    place: { file: configFile, line, column },
  });
}

/** Where nobody asked for it a broken configuration must not stop a run. */
function boundsOrDefault(tree: Tree): ShellConfig {
  try {
    return shellBounds(tree);
  } catch {
    return shellConfigDefault;
  }
}

/** What the session has loaded, within the bounds. A damaged state is a fresh one, and is noted. */
export function heldTools(context: Keeper, bounds: ShellConfig): ToolContext {
  const { state, damage } = decoded(context);
  if (damage !== undefined) {
    const about = `context/${keptName} is damaged: ${damage}; no tool is loaded any more`;
    // The run goes on without; a note that cannot be recorded is told by whatever comes next.
    context.note("EIO", about, `session/${context.session}`).catch(() => undefined);
    attempt(() => keepTools(context, state));
  }
  return within(state, bounds).state;
}

function decoded(context: Keeper): DecodedToolContext {
  try {
    return decodeToolContext(context.readKept(keptName, toolContextFileBytesMax));
  } catch (error) {
    return { ...decodeToolContext(undefined), damage: coded(error).message };
  }
}

/** Throws when it cannot be written; what was kept before is then still in force. */
export function keepTools(context: Keeper, state: ToolContext): void {
  context.keep(keptName, encodeToolContext(state));
}

/** The tool is about to be run. How valuable it is may be forgotten; the call is not. */
export function touchTool({ tree }: Host, context: Keeper, name: string): void {
  attempt(() => {
    const bounds = boundsOrDefault(tree);
    keepTools(context, touch(heldTools(context, bounds), name, bounds));
  });
}

/** The tools whose metadata may be shown: those that the agent may run now, but for tsh itself. */
export function loadableTools({ tree, server }: Host, agent: string): readonly ToolMetadata[] {
  const controls = loadAgent(tree, agent);
  return visibleTools({ tree, agent, controls, server })
    .map(({ tool }) => tool)
    .filter(({ name }) => name !== tshTool.name);
}

/** The block of the next step's prompt or envelope; empty when nothing is loaded. */
export function toolContextOf(host: Host, context: Keeper): string {
  const state = heldTools(context, boundsOrDefault(host.tree));
  // Most sessions load nothing, and then nobody has to be asked about every tool.
  if (state.pinned.length + state.loaded.length === 0) return "";
  return toolContextText(state, loadableTools(host, context.agent));
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The state is as it was.
  }
}
