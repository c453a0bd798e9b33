// What a model is offered: `tsh` always, and of the agent's `tools` control what authority allows
// now. A declared tool that is refused is not offered, since it could only fail.

import { type Authorized, visibleTools } from "../authority/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import type { ModelTool } from "../model/mod.ts";
import type { ExecutorOptions } from "./environment.ts";
import { tshTool } from "./tsh.ts";

export interface Offer {
  readonly tools: readonly ModelTool[];
  /** Names of `tools` beside `tsh`. */
  readonly direct: readonly string[];
}

export function offeredTools(
  options: Pick<ExecutorOptions, "tree" | "server">,
  agent: string,
  controls: AgentControls,
): Offer {
  const { tree, server } = options;
  const visible = new Map(
    visibleTools({ tree, agent, controls, server }).map(({ tool }) => [tool.name, tool]),
  );
  const direct = controls.tools.filter((name) => visible.has(name));
  const offered = direct.flatMap((name) => visible.get(name) ?? []);
  const tools = offered.map(({ name, description, schema }) => ({ name, description, schema }));
  return { tools: [tshTool, ...tools], direct };
}

/** What an executable agent has declared, refused or not: a call of it is told why it is refused. */
export function declaredTools(controls: AgentControls): Offer {
  const named = controls.tools.map((name) => ({ name, description: "", schema: {} }));
  return { tools: [tshTool, ...named], direct: controls.tools };
}

/** One line a tool, as `tsh tools` answers. */
export function toolListing(visible: readonly Authorized[]): string {
  const lines = visible
    .filter(({ tool }) => tool.name !== tshTool.name)
    .map(({ tool }) => `${tool.name}\t${tool.description.split("\n")[0] ?? ""}`);
  return lines.length === 0 ? "no tool is visible" : lines.join("\n");
}
