// The door of the run's capability socket: who may ask through it is decided here, what comes of a
// request is decided by the run that opened it.

export * from "./bounds.ts";
export { controlSocketName, createRunSockets } from "./sockets.ts";
export * from "./types.ts";
