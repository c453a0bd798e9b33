// The door of the models: what a run may ask of any of them, and how a reference becomes a client.

export { echoClient, scriptClient } from "./debug.ts";
export { type OpenaiOptions, openaiClient } from "./openai.ts";
export { isLoopback, type ResolveInput, resolveModel } from "./resolve.ts";
export { deltas, type ScriptEvent, scriptStep } from "./script.ts";
export * from "./types.ts";
