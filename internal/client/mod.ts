// The light door to a server: ask an agent, ask the server, start one. Pulls in nothing of it.

export { type AskOptions, askAgent, errorOfFrame, requestLine } from "./agent.ts";
export * from "./control.ts";
export { type EnsureOptions, ensureServer, scrubbed, serverStartMs } from "./start.ts";
