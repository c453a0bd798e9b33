// The door of line framing.

export * from "./json-line.ts";
export * from "./line.ts";
export * from "./shape-issue.ts";
