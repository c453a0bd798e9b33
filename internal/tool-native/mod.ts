// The door of tool-native/v1: what a tool executable reads on standard input, what it may print, and what
// the host makes of it. Pure; processes and pipes are somebody else's.

export * from "./answer.ts";
export * from "./codec.ts";
export { canonicalToolNative, judgeToolNative } from "./judge.ts";
