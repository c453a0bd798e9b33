// The door of the control grammars: from a file's text to a value, or to a line, a column and a
// reason that a person can act on.

export * from "./agent-controls.ts";
export { formatPerm } from "./identity.ts";
export {
  type JsonObject,
  jsonDepthMax,
  parseJsonDocument,
  parseJsonLines,
  parseJsonObject,
} from "./json.ts";
export * from "./model-controls.ts";
export { formatMount } from "./mount.ts";
export { type McpLocator, type ShellConfig, shellConfigDefault } from "./pairs.ts";
export {
  classPermissions,
  isPolicyClass,
  parseAllowLines,
  parsePolicyObject,
  permissionFault,
} from "./policy-lines.ts";
export type { ControlRow, ControlTable } from "./row.ts";
export { idMax, pathFault, u32Max } from "./scalar.ts";
export { decodeControl } from "./text.ts";
export * from "./tool-controls.ts";
export * from "./types.ts";
export * from "./validate.ts";
