// An object whose replacement was cut between its two names has the controls of one and the program of
// the other. It is told by what a replacement leaves there, so that an object that nobody replaces
// costs one look.

import { closeSync } from "node:fs";
import { openBeneath, statBeneath } from "../os/mod.ts";
import type { Tree } from "../tree/mod.ts";
import { cutReplace } from "./replace.ts";
import { stagedExecutable } from "./staged.ts";
import { objectPlace } from "./target.ts";

/** Why the object, e.g. "tool/x", may not be used now; undefined when it is one. */
export function replacementFault(tree: Tree, object: string): string | undefined {
  try {
    statBeneath(tree.folder, `${object}.d/${stagedExecutable}`);
  } catch {
    return undefined;
  }
  const place = objectPlace(object);
  const folder = openBeneath(tree.folder, place.folder, "folder");
  try {
    if (cutReplace(folder, place) === undefined) return undefined;
  } finally {
    closeSync(folder);
  }
  return "its replacement was cut in the middle; see ctx object residue audit";
}
