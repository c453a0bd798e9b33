// The door of the sessions: durable conversations of agents, one writer each.

export type { ApprovalAnswer, ApprovalDecision } from "./approval.ts";
export { historyBytesMax, liveBytesMax } from "./bounds.ts";
export { pieces } from "./observation.ts";
export { createSessions, type Sessions, type SessionsOptions } from "./sessions.ts";
export type { FrameStream } from "./stream.ts";
export * from "./types.ts";
