// Removing what was installed, and nothing else. The executable goes first, so that there is no object
// any more when the rest is taken away; both leave their names by a rename, and what was moved is
// looked at again before it is removed.

import { closeSync, fsyncSync } from "node:fs";
import { fail, quoted } from "../abi/mod.ts";
import { controlNames } from "../control/mod.ts";
import { openBeneath, renameNoReplace, statBeneath } from "../os/mod.ts";
import type { Tree } from "../tree/mod.ts";
import { inspectObject, managedObject } from "./managed.ts";
import { type InstallReceipt, receiptName } from "./receipt.ts";
import { undoCutReplace } from "./replace.ts";
import {
  type FileIdentity,
  identityAt,
  listTree,
  removeTree,
  sameFile,
  stagingName,
} from "./staged.ts";
import { checkSource, type ObjectPlace, objectPlace, withFolder } from "./target.ts";

export interface UninstallPlan extends ObjectPlace {
  readonly receipt: InstallReceipt;
  /** Paths in the tree in the order in which they go; folders end in a slash. */
  readonly removes: readonly string[];
  /** Those of them that no installation made, and the log when something is in it. */
  readonly added: readonly string[];
}

/** What `uninstallObject` would do, and why it would not: EACCES, ENOENT, EINVAL. Writes nothing. */
export function planUninstall(tree: Tree, path: string): UninstallPlan {
  checkSource(tree);
  const { receipt, fault, ...place } = inspectObject(tree, path);
  const { object, name } = place;
  if (fault !== undefined) {
    fail(
      "EACCES",
      `the executable of ${quoted(object)} is not the one that was installed: ${fault}`,
      {
        hint: `see ctx object inspect ${object}; what a person put there a person removes`,
      },
    );
  }
  const folder = openBeneath(tree.folder, place.folder, "folder");
  try {
    const inside = listTree(folder, `${name}.d`);
    const made = [...controlNames(place.class), ...madeBeside];
    const hasLog = (statBeneathOf(folder, `${name}.d/log`)?.size ?? 0) > 0;
    const foreign = inside.filter((below) => !made.includes(below) || (below === "log" && hasLog));
    const below = (names: readonly string[]) => names.map((one) => `${object}.d/${one}`);
    const removes = [object, ...below(inside), `${object}.d/`];
    return { ...place, receipt, removes, added: below(foreign) };
  } finally {
    closeSync(folder);
  }
}

/** What an installation makes in a folder of controls beside them. */
const madeBeside = [receiptName, "hooks/", "hooks/pre.d/", "hooks/post.d/"];

/** Undefined for what is not there, or not to be looked at. */
function statBeneathOf(folder: number, relative: string) {
  try {
    return statBeneath(folder, relative);
  } catch {
    return undefined;
  }
}

/** Does what `planUninstall` says. `step` is told before each step; for tests that cut it there. */
export function uninstallObject(
  tree: Tree,
  path: string,
  step?: (name: string) => void,
): ObjectPlace & { readonly receipt: InstallReceipt } {
  checkSource(tree);
  const place = objectPlace(path);
  return withFolder(tree, place.folder, (folder) => {
    undoCutReplace(folder, place);
    const { receipt, controls } = managedObject(folder, place);
    const { name, object } = place;
    step?.("executable");
    const executable = moveAway(folder, name, name, receipt.executable, object);
    step?.("controls");
    const folderOfControls = moveAway(folder, name, `${name}.d`, controls, `${object}.d`);
    step?.("clean");
    removeTree(folder, executable);
    removeTree(folder, folderOfControls);
    fsyncSync(folder);
    step?.("done");
    return { ...place, receipt };
  });
}

/** Takes a name away from the very file that is meant; the new name is given. */
function moveAway(
  folder: number,
  name: string,
  from: string,
  wanted: FileIdentity,
  what: string,
): string {
  const staging = stagingName(name);
  renameNoReplace(folder, from, folder, staging);
  if (!sameFile(identityAt(folder, staging), wanted)) {
    renameNoReplace(folder, staging, folder, from);
    fail("EACCES", `${quoted(what)} was changed while it was removed`);
  }
  fsyncSync(folder);
  return staging;
}
