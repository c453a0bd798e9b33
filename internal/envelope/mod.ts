// The door of sdk-envelope-v1: what the host writes to a step, what a step may print, and the order
// of both in a run. Pure; processes, clocks and pipes are somebody else's.

export * from "./bounds.ts";
export * from "./codec.ts";
export * from "./envelope-run.ts";
export * from "./frames.ts";
export { canonicalEnvelope, judgeEnvelope } from "./judge.ts";
export * from "./run-calls.ts";
export * from "./step-reader.ts";
