// The door of line framing.

export * from "./line.ts";
