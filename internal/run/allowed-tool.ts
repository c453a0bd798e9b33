// The one way to a tool by its name: what authority says of it now, from the files as they are.

import { fail, isObjectName } from "../abi/mod.ts";
import { authorize, type Question } from "../authority/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import type { ToolObject } from "../tree/mod.ts";
import type { ExecutorOptions } from "./environment.ts";
import { explainHint, refusalReason } from "./report.ts";

/** Characters of a made-up tool name that are repeated. */
export const nameCharsMax = 64;

/** The tool by that name if the agent may execute it now; else throws the explained refusal. */
export function allowedTool(
  { tree, server }: Pick<ExecutorOptions, "tree" | "server">,
  agent: string,
  controls: AgentControls,
  name: string,
): ToolObject {
  if (!isObjectName(name)) {
    return fail("EINVAL", `tool name ${JSON.stringify(name.slice(0, nameCharsMax))} is not valid`);
  }
  const question: Question = { object: { class: "tool", name }, permission: "execute" };
  const { verdict, tool } = authorize({ tree, agent, controls, server, question });
  if (verdict.allowed && tool !== undefined) return tool;
  const message = `tool "${name}" is refused for agent "${agent}": ${refusalReason(verdict)}`;
  return fail(verdict.code ?? "EACCES", message, { hint: explainHint(agent, question) });
}
