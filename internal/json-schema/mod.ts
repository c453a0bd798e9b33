// The door of JSON Schema validation.

export * from "./validate.ts";
