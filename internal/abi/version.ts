// What `--version` prints. The commit is put in at build time; a run from source says "source".

declare const CORTEXFS_COMMIT: string | undefined;

export const productVersion = "0.1.0";

export const productCommit: string =
  typeof CORTEXFS_COMMIT === "string" ? CORTEXFS_COMMIT : "source";

/** Every wire or file format this build speaks, by its public name. */
export const abiVersions: readonly string[] = [
  "op/v1",
  "interaction/v1",
  "sdk-envelope/v1",
  "control/v1",
  "tool-native/v1",
  "terminal-call/v1",
  "policy/v0",
  "session/v1",
];
