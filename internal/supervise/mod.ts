// The door of supervision: terminals that outlive the server that started them.

export { createBuiltinSupervisor } from "./builtin.ts";
export { type LaunchProcessOptions, runLaunch } from "./launch-process.ts";
export type { TerminalsOptions } from "./options.ts";
export { createTerminals } from "./terminals.ts";
export * from "./types.ts";
