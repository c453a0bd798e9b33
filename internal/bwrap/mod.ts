// The door of bubblewrap: the only module that starts it.

export { forbidExecution, isPidMaxPrivate, limitProcesses } from "./adjust.ts";
export { childDescriptors } from "./channels.ts";
export { canFence } from "./fence.ts";
export * from "./health.ts";
export { stopJanitor } from "./janitor.ts";
export {
  type AttachedNetwork,
  attachNetwork,
  type NetworkProgram,
  networkProgram,
} from "./network.ts";
export { endOrphans } from "./orphans.ts";
export { hostProgram } from "./programs.ts";
export { type Identity, identityProgram } from "./setpriv.ts";
export * from "./start.ts";
