// The environment of a tool: a fixed list, the agent's own lines, nothing of the host's. bubblewrap
// adds PWD and the gate CTX_RUN_ID. CTX_CONTROL_SOCKET joins the list with the capability socket.

import { basename, dirname } from "node:path";
import { commandPath } from "../sandbox/mod.ts";
import type { LaunchRequest } from "./types.ts";

export function toolEnvironment(
  request: Pick<LaunchRequest, "agent" | "controls" | "home" | "session" | "tool">,
): Map<string, string> {
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
    ["CTX_TOOL_MODE", "native"],
    ["CTX_SESSION", request.session],
  ]);
  if (request.tool.name === "shell.exec" && request.tool.builtin) env.set("PATH", commandPath);
  return env;
}

/** The uid folder of a home such as `<tree>/home/1000/agent/coder`. */
export function homeUid(home: string): string {
  return basename(dirname(dirname(home)));
}
