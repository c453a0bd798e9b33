// `ctx agent status`: whether the agent's definition is sound, and what its session is doing. Asks
// the server when one runs and never starts one; otherwise the session's files answer.

import { closeSync } from "node:fs";
import { CodedError } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { readTerminal } from "../../internal/client/mod.ts";
import type { OpFrame, Scope } from "../../internal/interaction/mod.ts";
import { openPath, readBeneath } from "../../internal/os/mod.ts";
import { askOnce } from "./agent-link.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { type AgentContext, openAgent } from "./context.ts";
import { scopeOf, sessionHome, sessionOf, sessionOptions } from "./session-option.ts";
import { type ShownTerminal, shownFiles, stateText } from "./terminal-facts.ts";

export const spec: CommandSpec = {
  name: "agent status",
  words: "<agent>",
  summary: "Checks an agent's definition and shows what its session is doing.",
  positionals: { agent: "Name of the agent" },
  options: sessionOptions,
  examples: [["agent status coder --session build-7", "one session"]],
};

type StatusFrame = Extract<OpFrame, { type: "status" }>;

export async function run(args: Arguments): Promise<number> {
  const scope = scopeOf(args);
  // A malformed control is an error of this command, with its file, line and column.
  const context = openAgent(args, args.need("agent"));
  const session = sessionOf(args, context);
  const live = await liveStatus(context, { op: "status", session, scope });
  const status = live?.status ?? storedState(sessionHome(context, scope), session) ?? "none";
  const facts = {
    agent: context.agent,
    definition: "valid",
    owner: context.controls.owner,
    served: live !== undefined,
    session,
    status,
    phase: live?.phase ?? null,
    run: live?.run ?? null,
    step: live?.step ?? 0,
    model: live?.model ?? null,
    updated_at: live?.updated_at ?? null,
    terminal: terminalOf(context, scope, session),
  };
  if (args.flag("json")) printJson(facts);
  else printFacts(facts);
  return 0;
}

/** The session's terminal as its files have it; null when it never had one. */
function terminalOf(context: AgentContext, scope: Scope, session: string) {
  if (scope.kind !== "private") return null;
  const { agent, controls, tree } = context;
  const files = readTerminal(tree.source, { agent, session, owner: controls.owner });
  return files === undefined ? null : shownFiles(files);
}

/** Undefined when no server answers. */
async function liveStatus(
  context: AgentContext,
  request: Parameters<typeof askOnce>[1],
): Promise<StatusFrame | undefined> {
  try {
    const frames = await askOnce(context, request);
    return frames.find((frame): frame is StatusFrame => frame.type === "status");
  } catch (error) {
    if (error instanceof CodedError && error.code === "EHOSTDOWN") return undefined;
    throw error;
  }
}

/** Bytes of `state`, which is one word. */
const stateBytesMax = 64;

function storedState(home: string, session: string): string | undefined {
  try {
    const folder = openPath(home, "folder");
    try {
      const bytes = readBeneath(folder, `session/${session}/state`, stateBytesMax);
      return new TextDecoder().decode(bytes).trim();
    } finally {
      closeSync(folder);
    }
  } catch {
    // No such session yet, or no such file in it: then there is no state to tell.
    return undefined;
  }
}

interface AgentFacts extends Readonly<Record<string, unknown>> {
  readonly terminal: ShownTerminal | null;
}

function printFacts(facts: AgentFacts): void {
  const { agent, owner, served, session, status, phase, run, step, model, updated_at } = facts;
  print(`agent    ${agent} (definition valid, owner ${owner})`);
  print(`server   ${served ? "running" : "not running"}`);
  print(`session  ${session}: ${status}${phase ? `, ${phase}` : ""}`);
  if (run) print(`run      ${run}, step ${step}${model ? `, model ${model}` : ""}`);
  if (updated_at) print(`updated  ${updated_at}`);
  const { terminal } = facts;
  if (terminal) print(`terminal ${terminal.terminal}: ${stateText(terminal)}`);
}
