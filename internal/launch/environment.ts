// The environment of a tool and of a step: a fixed list, the agent's own lines, nothing of the host's.
// bubblewrap adds PWD, the gate CTX_RUN_ID, CTX_SESSION and CTX_STEP: a sandbox may stand before it is
// known whose run it is for.

import { basename, dirname } from "node:path";
import { commandPath } from "../sandbox/mod.ts";
import type { StepRequest } from "./step-types.ts";
import type { LaunchRequest, StandbyRequest } from "./types.ts";

/** Where a sandbox sees the folder of its run's capability socket, and the socket in it. */
export const controlView = "/run/cortexfs";
const controlSocketView = `${controlView}/control.sock`;

type OfAgent = Pick<StandbyRequest, "agent" | "controls" | "home" | "control">;

export function toolEnvironment(request: OfAgent & Pick<LaunchRequest, "tool">) {
  const env = agentEnvironment(request).set("CTX_TOOL_MODE", "native");
  if (request.tool.name === "shell.exec" && request.tool.builtin) env.set("PATH", commandPath);
  return env;
}

export function stepEnvironment(request: OfAgent & Pick<StepRequest, "window">) {
  const { window } = request;
  const env = agentEnvironment(request);
  if (window === undefined) return env;
  return env
    .set("CTX_CONTEXT_WINDOW_TOKENS", String(window.tokens))
    .set("CTX_CONTEXT_WINDOW_CHARS", String(window.chars));
}

/** Of a terminal: that list and no more, so that what is in it does not depend on how it came about. */
export function terminalEnvironment(request: OfAgent) {
  const env = agentEnvironment(request);
  env.delete("CTX_SESSION");
  if (!request.controls.env.has("TERM")) env.set("TERM", "xterm-256color");
  return env;
}

function agentEnvironment(request: OfAgent): Map<string, string> {
  const { agent, controls } = request;
  const env = new Map<string, string>([
    ["HOME", "/home/agent"],
    ["USER", agent],
    ["LOGNAME", agent],
    ["SHELL", "/bin/sh"],
    ["TERM", "dumb"],
    ["LANG", "C.UTF-8"],
    ...controls.env,
    ["CTX_ROOT", "/ctx"],
    ["CTX_HOME", `/ctx/home/${homeUid(request.home)}`],
    ["CTX_AGENT", agent],
    ["CTX_AGENT_SUBJECT", controls.label.type],
    ["CTX_PATH", controls.path.join(":")],
  ]);
  if (request.control !== undefined) env.set("CTX_CONTROL_SOCKET", controlSocketView);
  return env;
}

/** The uid folder of a home such as `<tree>/home/1000/agent/coder`. */
export function homeUid(home: string): string {
  return basename(dirname(dirname(home)));
}
