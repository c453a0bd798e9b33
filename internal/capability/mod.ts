// The door of the run's capability socket, control/v1: what a program in the sandbox may ask of the
// host, and how it is answered. Pure; who may ask is decided by the peer's process and not by bytes.

export * from "./ancestry.ts";
export * from "./bounds.ts";
export * from "./codec.ts";
export * from "./frames.ts";
export { canonicalControl, judgeControl } from "./judge.ts";
export * from "./terminal-codec.ts";
export * from "./terminal-frames.ts";
export { bytesOfBase64, canonicalTerminalCall, judgeTerminalCall } from "./terminal-judge.ts";
