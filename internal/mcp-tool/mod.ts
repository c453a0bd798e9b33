// The door of what is pure about MCP servers: their configuration, their tools as objects of the
// tree, and their results as a tool's output.

export * from "./bounds.ts";
export * from "./canonical.ts";
export * from "./config.ts";
export * from "./definition.ts";
export * from "./manifest-text.ts";
export * from "./project.ts";
export * from "./result.ts";
export * from "./secret-look.ts";
export * from "./variables.ts";
