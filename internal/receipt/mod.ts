// The door of receipts: what proves which launch is whose.

export * from "./types.ts";
