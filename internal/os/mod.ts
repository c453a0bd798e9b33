// The door of the machine: libc, files without symlinks, kernel descriptors, facts from /proc.

export * from "./channels.ts";
export * from "./connect.ts";
export * from "./descriptors.ts";
export * from "./file-staged.ts";
export * from "./file-stamp.ts";
export * from "./files.ts";
export * from "./jobs.ts";
export * from "./landlock.ts";
export { SystemError } from "./libc.ts";
export * from "./peer-process.ts";
export * from "./process-facts.ts";
export * from "./process-guard.ts";
export * from "./terminal-flow.ts";
export * from "./terminal-modes.ts";
