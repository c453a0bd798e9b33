// What a launch of a run is asked whatever tool it is for, from the files as they are now.

import { dirname, join } from "node:path";
import { authorize, programPath, type Question, visibleTools } from "../authority/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import type { StandbyRequest, StepRequest } from "../launch/mod.ts";
import type { RunContext } from "../session/mod.ts";
import type { ExecutorOptions, RunOptions } from "./environment.ts";
import { usableModels } from "./models.ts";

export function standbyRequest(
  options: RunOptions,
  context: RunContext,
  controls: AgentControls,
): StandbyRequest {
  const { tree, server } = options;
  const { agent, session, run, scope, workspace, cwd } = context;
  const question: Question = {
    object: { class: "network", name: "default" },
    permission: "connect",
  };
  const { verdict } = authorize({ tree, agent, controls, server, question });
  const visible = visibleTools({ tree, agent, controls, server }).map((one) => one.tool);
  const control = options.folder.of(controls.uid);
  return {
    agent,
    controls,
    session,
    run,
    scope,
    home: homeOf(options, context, controls),
    network: verdict.allowed,
    visible,
    models: usableModels({ tree, agent, controls, server }),
    ...(control === undefined ? {} : { control }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** Where the program of an executable agent is, in the view and on the host. */
export function programOf(
  { tree }: Pick<ExecutorOptions, "tree">,
  agent: string,
): StepRequest["program"] {
  return { viewPath: programPath(agent), hostPath: join(tree.source, "agent", agent) };
}

/** A private session lies in the agent's home; any other session has none to derive it from. */
function homeOf(options: ExecutorOptions, context: RunContext, controls: AgentControls): string {
  const { scope, sessionFolder, agent } = context;
  if (scope.kind === "private" && sessionFolder !== undefined)
    return dirname(dirname(sessionFolder));
  return join(options.tree.source, "home", String(controls.owner), "agent", agent);
}
