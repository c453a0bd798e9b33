// The door of installed objects: what was installed, by a receipt, and removed by it.

export { acceptedDefinition } from "./accepted.ts";
export { type InstallReceipt, readInstallReceipt } from "./receipt.ts";
