// The door of the lines between the host and `ctxmcp serve-tool`.

export * from "./codec.ts";
export * from "./frames.ts";
