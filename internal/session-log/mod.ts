// The door of the session log: one folder, two files of truth, one writer.

export { holdsAccepted } from "./accepted.ts";
export * from "./bounds.ts";
export { type Claim, type ClaimKey, Claims, openClaims } from "./claims.ts";
export { DerivedFiles } from "./derived.ts";
export { type FileCalls, fileCalls } from "./durable-file.ts";
export {
  closeRoot,
  existsBeneath,
  makeFolders,
  openRoot,
  type Root,
  withFolder,
} from "./folders.ts";
export { type LockFolder, openLockFolder } from "./lock.ts";
export { MemoryLog } from "./memory.ts";
export { type OpenOptions, openSessionLog } from "./open.ts";
export * from "./records.ts";
