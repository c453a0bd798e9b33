// The door of the sandbox as data: arguments, system call filter, fence and gate, with no effect at all.

export * from "./bwrap-arguments.ts";
export * from "./fence.ts";
export * from "./gate.ts";
export * from "./seccomp.ts";
export * from "./types.ts";
