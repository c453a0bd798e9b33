// The door of floor 0's vocabulary: codes, errors, names and shared bounds. Imports nothing.

export * from "./codes.ts";
export * from "./error.ts";
export * from "./judgement.ts";
export * from "./limits.ts";
export * from "./names.ts";
export * from "./quote.ts";
export * from "./version.ts";
