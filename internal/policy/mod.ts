// The door of policy v0: parse, look up, and print the line that would allow.

export {
  classPermissions,
  isPolicyClass,
  parsePolicyObject,
  permissionFault,
} from "../control/mod.ts";
export * from "./policy.ts";
