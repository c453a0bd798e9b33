export * from "./places.ts";
export * from "./runtime-folder.ts";
