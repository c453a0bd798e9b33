// Whether a tool may run now, as a program in a sandbox is told: the full decision, by the authority that
// decides the agent's own calls, from the files as they are, and logged.

import { authorize, type Question, type Verdict } from "../authority/mod.ts";
import type { AuthorizeRequest, Decision, Refusal, Reply } from "../capability/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import { appendObjectLog, loadAgent, type ToolObject } from "../tree/mod.ts";
import type { ExecutorOptions } from "./environment.ts";
import { explainHint, refusalReason } from "./report.ts";

/** Whose program asks; `run` is what its socket was opened for. */
export interface Asker {
  readonly agent: string;
  readonly session: string;
  readonly run: string;
}

export function authorizeTool(
  { tree, server }: Pick<ExecutorOptions, "tree" | "server">,
  { agent, session, run }: Asker,
  { request_id, name }: AuthorizeRequest,
): Reply | Refusal {
  const controls = loadAgent(tree, agent);
  const question: Question = { object: { class: "tool", name }, permission: "execute" };
  const { verdict, tool } = authorize({ tree, agent, controls, server, question });
  const decision = decisionOf(agent, controls, verdict, tool);
  const { allowed } = decision;
  const event = { type: "tool.authorize", session, run, tool: name, allowed };
  appendObjectLog(tree, `agent/${agent}.d/log`, event);
  if (allowed) return { request_id, ok: true, decision };
  const reason = verdict.allowed ? askedReason : refusalReason(verdict);
  const message = `tool "${name}" is refused for agent "${agent}": ${reason}; ${explainHint(agent, question)}`;
  return { request_id, ok: false, code: verdict.code ?? "EACCES", message, decision };
}

/** Nobody is asked about a call that the host does not make itself. */
const askedReason = "approval is asked, which only a call of the agent itself can be";

function decisionOf(
  agent: string,
  { approval }: AgentControls,
  verdict: Verdict,
  tool: ToolObject | undefined,
): Decision {
  const layers = verdict.layers.map(({ layer, allowed, because, at }) => ({
    layer: layer as string,
    allowed,
    because,
    ...(at === undefined ? {} : { at }),
  }));
  const asked = approval === "ask";
  if (asked) {
    const at = `agent/${agent}.d/approval`;
    layers.push({ layer: "approval", allowed: false, because: askedReason, at });
  }
  const path = tool === undefined ? {} : { path: tool.viewPath };
  return { allowed: verdict.allowed && !asked, ...path, layers };
}
