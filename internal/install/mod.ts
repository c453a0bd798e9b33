// The door of installed objects: what was installed, by a receipt, and removed by it.

export { acceptedDefinition } from "./accepted.ts";
export { type CheckedManifest, checkManifest } from "./artifact.ts";
export { replacementFault } from "./half.ts";
export { type Installed, type InstallOptions, installObject } from "./install.ts";
export { type Inspection, inspectObject } from "./managed.ts";
export { type InstallReceipt, type InstallTier, readInstallReceipt } from "./receipt.ts";
export { auditResidue, cleanupResidue, type Residue } from "./residue.ts";
export { checkSchemas } from "./schemas.ts";
export { planUninstall, type UninstallPlan, uninstallObject } from "./uninstall.ts";
