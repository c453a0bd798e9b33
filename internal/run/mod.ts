// The door of runs: the executor that a session service calls, and the prompt it would use.

export { type Asker, authorizeTool } from "./authorize-tool.ts";
export type { ExecutorOptions, ResolveModel } from "./environment.ts";
export { createExecutor } from "./executor.ts";
export { type HostedOptions, hostedCall } from "./hosted-call.ts";
export { usableModels } from "./models.ts";
export { type Offer, offeredTools } from "./offer.ts";
export { type SystemPromptInput, systemPrompt } from "./system-prompt.ts";
export type { TerminalCalls } from "./terminal-calls.ts";
export { tshTool } from "./tsh.ts";
