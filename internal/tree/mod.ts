// The door of the tree: where it is, what is in it, and making one.

export { agentText, isModelAgent, loadAgent, runsObjectRunner } from "./agent.ts";
export { type AgentChange, applyChange, planChange, refuseDescription } from "./agent-change.ts";
export {
  type AgentDescription,
  type Given,
  listOf,
  mountLine,
  readAgentDescription,
} from "./agent-description.ts";
export {
  type ControlTexts,
  controlsOf,
  type PlanContext,
  planAgent,
} from "./agent-plan.ts";
export { type AgentProgram, openProgram } from "./agent-program.ts";
export { checkNameFree, type NewAgent, publishAgent } from "./agent-publish.ts";
export { appendControl } from "./append-control.ts";
export {
  type BootstrapOptions,
  type BootstrapReport,
  bootstrap,
  treeOwner,
} from "./bootstrap.ts";
export type { BuiltinTool } from "./builtin-tool.ts";
export { builtinTools, isBuiltinTool, servedTools } from "./builtin-tools.ts";
export { controlAt, readControl, writeControl } from "./control-file.ts";
export { manualFiles, manualTopics } from "./manual.ts";
export { materializeModel, modelObjectName } from "./materialize.ts";
export { loadModel, type ModelObject, modelName, resolveAlias } from "./model.ts";
export { objectMetadata } from "./object-file.ts";
export { appendObjectLog, objectLogBytesMax, objectLogLineBytesMax } from "./object-log.ts";
export {
  agentNames,
  modelAliases,
  modelNames,
  openTree,
  type Tree,
  toolNames,
  viewToSource,
} from "./open.ts";
export { type Places, placesWith, runtimeOfTree } from "./place-names.ts";
export { resolvePlaces, treeRuntime } from "./places.ts";
export { stagePrompt } from "./prompt-update.ts";
export { loadProviders, type Provider, type ProviderFormat, parseProvider } from "./providers.ts";
export { ensureRuntimeFolder } from "./runtime-folder.ts";
export { loadTool, type ToolObject } from "./tool.ts";
export { type Sight, whileSame } from "./value-cache.ts";
