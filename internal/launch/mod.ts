// The door of launches: one tool call in one sandbox.

export { createLauncher } from "./launcher.ts";
export * from "./types.ts";
