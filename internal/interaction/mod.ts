export * from "./op.ts";
