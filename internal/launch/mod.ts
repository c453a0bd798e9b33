// The door of launches: one tool call, one step of an agent, or one terminal, in one sandbox.

export { createLauncher } from "./launcher.ts";
export * from "./step-types.ts";
export {
  decodeTerminalPlan,
  encodeTerminalPlan,
  terminalPlanVersion,
} from "./terminal-codec.ts";
export { terminalMountsMax } from "./terminal-plan.ts";
export { startTerminal } from "./terminal-start.ts";
export * from "./terminal-types.ts";
export * from "./types.ts";
export { type ViewFacts, viewDigest } from "./view-digest.ts";
