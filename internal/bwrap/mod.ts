// The door of bubblewrap: the only module that starts it.

export * from "./health.ts";
export * from "./programs.ts";
export * from "./start.ts";
