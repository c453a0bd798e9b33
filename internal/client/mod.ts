// The light door to a server: ask an agent, ask the server, start one. Pulls in nothing of it.

export { type AskOptions, askAgent, errorOfFrame, requestLine } from "./agent.ts";
export * from "./control.ts";
export { type DetachKeys, defaultDetachKeys, detachKeys } from "./detach-key.ts";
export { askHidden, type HiddenAnswer, type HiddenQuestion } from "./hidden-prompt.ts";
export { endError, Join, type JoinEnd, type JoinOptions } from "./join.ts";
export { Output, PersonTerminal } from "./person-terminal.ts";
export { type EnsureOptions, ensureServer, scrubbed, serverStartMs } from "./start.ts";
export { type JoinMode, joinFirst, TerminalConnection } from "./terminal-connection.ts";
export * from "./terminal-files.ts";
export * from "./terminal-place.ts";
