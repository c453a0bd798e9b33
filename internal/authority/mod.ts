// The door of authority: facts, the decision, its explanation, and the tools an agent may see.

export { decide, firstRefusal } from "./decide.ts";
export { formatVerdict } from "./format.ts";
export { type GatherInput, gatherFacts, type Server } from "./gather.ts";
export { gateOf } from "./policy-layers.ts";
export { authorizeProgram, programPath } from "./program.ts";
export * from "./types.ts";
export {
  type Authorized,
  authorize,
  type VisibleInput,
  visibleModels,
  visibleTools,
} from "./visible.ts";
