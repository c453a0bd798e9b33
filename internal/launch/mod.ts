// The door of launches: one tool call, one step of an agent, or one terminal, in one sandbox.

export { answerOf, type Printed } from "./answer.ts";
export type { CallPlan, CallPlanner } from "./call-plan.ts";
export { newGitEntries } from "./git.ts";
export { createLauncher, newGitNote } from "./launcher.ts";
export { OutputWindow } from "./output.ts";
export type { Payload } from "./payload.ts";
export { canonicalJson, refuseChangedCall } from "./prepared.ts";
export { refusalOf } from "./refusal.ts";
export * from "./service-types.ts";
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
