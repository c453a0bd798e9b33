// The line from a command to its agent: a server is made sure of first, as the caller and before
// root's identity is given up, then requests go out as the agent's owner.

import { dirname } from "node:path";
import {
  type AskOptions,
  askAgent,
  ensureServer,
  errorOfFrame,
} from "../../internal/client/mod.ts";
import type { OpFrame, OpRequest, Scope } from "../../internal/interaction/mod.ts";
import type { Arguments } from "./command.ts";
import { type AgentContext, becomeOwner, loadAgentContext } from "./context.ts";

/** Checks the agent, sees to it that a server runs, and becomes the agent's owner. */
export async function linkAgent(args: Arguments, agent: string): Promise<AgentContext> {
  const context = loadAgentContext(args, agent);
  await ensureServer(context.places, {
    noStart: args.flag("no-start"),
    ctxdBinary: `${dirname(process.execPath)}/ctxd`,
    env: process.env,
  });
  becomeOwner(context.controls.owner, context.controls.gid);
  return context;
}

/** Frames of one request. The server may run as the agent's owner or as root, nobody else. */
export function ask(
  context: AgentContext,
  request: OpRequest,
  options: Pick<AskOptions, "signal" | "onApproval"> = {},
): AsyncGenerator<OpFrame> {
  const places = { ...context.places, uid: context.controls.owner };
  return askAgent(places, context.agent, request, options);
}

/** Every frame of a request that is answered at once. Throws the first error frame. */
export async function askOnce(context: AgentContext, request: OpRequest): Promise<OpFrame[]> {
  const frames: OpFrame[] = [];
  for await (const frame of ask(context, request)) {
    const error = errorOfFrame(frame);
    if (error !== undefined) throw error;
    frames.push(frame);
  }
  return frames;
}

/** The run that is active in a session now, if any. */
export async function activeRun(
  context: AgentContext,
  session: string,
  scope: Scope,
): Promise<string | undefined> {
  for (const frame of await askOnce(context, { op: "status", session, scope })) {
    if (frame.type === "status") return frame.run ?? undefined;
  }
  return undefined;
}
