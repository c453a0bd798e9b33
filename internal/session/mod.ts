// The door of the sessions: durable conversations of agents, one writer each.

export { historyBytesMax, liveBytesMax } from "./bounds.ts";
export { createSessions, type Sessions, type SessionsOptions } from "./sessions.ts";
export type { FrameStream } from "./stream.ts";
export * from "./types.ts";
