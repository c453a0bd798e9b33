// The door of the servers that runs have their projected tools from.

export * from "./bounds.ts";
export { createToolServers } from "./servers.ts";
export * from "./types.ts";
