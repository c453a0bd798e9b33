// The door of the context window: its setting, its check and its arithmetic. Pure.

export * from "./budget.ts";
export * from "./environment.ts";
export * from "./setting.ts";
