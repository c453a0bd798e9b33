// The door of the calls that run in terminals: the host of their shells.

export * from "./bounds.ts";
export { createTerminalHost } from "./host.ts";
export * from "./types.ts";
