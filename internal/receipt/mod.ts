// The door of receipts: what proves which launch is whose.

export * from "./store.ts";
export * from "./types.ts";
