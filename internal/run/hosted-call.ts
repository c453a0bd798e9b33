// A call that a program in a sandbox has the host make: of a tool that is not in that sandbox, because
// a server has it. Decided, checked and logged like the agent's own calls.

import { coded, fail, frameTextUnitsMax } from "../abi/mod.ts";
import type { CallReply, CallRequest, Reply } from "../capability/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import type { LaunchRequest } from "../launch/mod.ts";
import { loadAgent, type ToolObject } from "../tree/mod.ts";
import { allowedTool } from "./allowed-tool.ts";
import type { Asker } from "./authorize-tool.ts";
import type { ExecutorOptions } from "./environment.ts";
import { logToolCall } from "./object-events.ts";
import { errorOutcome } from "./report.ts";
import { checkInput } from "./schema.ts";

/** What a call of this kind sees besides its tool. */
export type CallSurroundings = Omit<LaunchRequest, "tool" | "args" | "timeoutMs" | "approved">;

export type HostedOptions = Pick<ExecutorOptions, "tree" | "server" | "servers" | "toolTimeoutMs">;

/**
 * A call that the server refuses or fails is a result, like any call's; what is thrown refuses the
 * request itself, and nothing was called.
 */
export async function hostedCall(
  options: HostedOptions,
  asker: Asker,
  { request_id, name, args }: CallRequest,
  surroundings: (controls: AgentControls) => CallSurroundings,
  signal: AbortSignal,
): Promise<Reply> {
  const { tree, servers, toolTimeoutMs } = options;
  const controls = loadAgent(tree, asker.agent);
  const tool = allowedTool(options, asker.agent, controls, name);
  if (controls.approval === "ask") {
    fail(
      "EACCES",
      `tool "${name}" needs an approval, which only a call of the agent itself can have`,
    );
  }
  if (servers === undefined || tool.mcp === undefined) return notServed(tool);
  await checkInput(name, tool.schema, args);
  const request = { ...surroundings(controls), tool, args, timeoutMs: toolTimeoutMs };
  const result = await resultOf(servers, request, signal);
  logToolCall(tree, asker, tool, request_id, result);
  return { request_id, ok: true, result };
}

function notServed({ name }: ToolObject): never {
  return fail("EINVAL", `tool "${name}" is no server's: run its executable, /ctx/tool/${name}`);
}

async function resultOf(
  servers: NonNullable<ExecutorOptions["servers"]>,
  request: LaunchRequest,
  signal: AbortSignal,
): Promise<CallReply> {
  try {
    const { status, code, output } = await servers.call(request, { signal, onOutput() {} });
    return { status, ...(code === undefined ? {} : { code }), content: fitting(output) };
  } catch (thrown) {
    const { code, output } = errorOutcome(coded(thrown));
    return { status: "error", ...(code === undefined ? {} : { code }), content: fitting(output) };
  }
}

/** One line holds it; what is cut is named. */
function fitting(text: string): string {
  if (text.length <= frameTextUnitsMax) return text.toWellFormed();
  const kept = text.slice(0, frameTextUnitsMax);
  return `${kept.toWellFormed()}\n[${text.length - frameTextUnitsMax} characters more were cut]\n`;
}
