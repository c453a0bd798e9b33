// The door of the models: what a run may ask of any of them, and how a reference becomes a client.

export { echoClient, scriptClient } from "./debug.ts";
export { deltas, type ScriptEvent, scriptStep } from "./script.ts";
export * from "./types.ts";
