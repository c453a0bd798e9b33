// The door of launches: one tool call, or one step of an agent, in one sandbox.

export { createLauncher } from "./launcher.ts";
export * from "./step-types.ts";
export * from "./types.ts";
