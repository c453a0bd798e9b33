// The door of supervision: terminals that outlive the server that started them.

export * from "./types.ts";
