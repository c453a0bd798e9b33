// The door of MCP servers as processes: start one, ask it, end it. Nothing else names the MCP SDK.

export type { CallResult } from "../mcp-tool/mod.ts";
export * from "./bounds.ts";
export { openServer } from "./open.ts";
export { adoptOrphans } from "./process-end.ts";
export type { CallOptions, OpenOptions, OpenServer, Progress, Root } from "./types.ts";
