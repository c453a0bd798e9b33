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
  const { agent } = context;
  return {
    ...surroundings(options, context, controls),
    ...viewObjects({ tree, agent, controls, server }),
  };
}

function surroundings(
  options: RunOptions,
  context: RunContext,
  controls: AgentControls,
): Omit<StandbyRequest, "visible" | "models"> {
  const { tree, server } = options;
  const { agent, session, run, scope, workspace, cwd } = context;
  const question: Question = {
    object: { class: "network", name: "default" },
    permission: "connect",
  };
  const { verdict } = authorize({ tree, agent, controls, server, question });
  const control = options.folder.of(controls.uid);
  return {
    agent,
    controls,
    session,
    run,
    scope,
    home: homeOf(options, context, controls),
    network: verdict.allowed,
    ...(control === undefined ? {} : { control }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(cwd === undefined ? {} : { cwd }),
  };
}

/** The same, whose tools and models are looked for when somebody asks for them, and once. */
export function lazyStandbyRequest(
  options: RunOptions,
  context: RunContext,
  controls: AgentControls,
): StandbyRequest {
  const { tree, server } = options;
  let objects: Pick<StandbyRequest, "visible" | "models"> | undefined;
  const found = () => {
    objects ??= viewObjects({ tree, agent: context.agent, controls, server });
    return objects;
  };
  return Object.defineProperties(surroundings(options, context, controls), {
    visible: { get: () => found().visible, enumerable: true },
    models: { get: () => found().models, enumerable: true },
  }) as StandbyRequest;
}

/** What of the tree its sandbox shows: decided tool by tool, which takes longer than all else here. */
function viewObjects(of: Parameters<typeof visibleTools>[0]) {
  return { visible: visibleTools(of).map((one) => one.tool), models: usableModels(of) };
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
