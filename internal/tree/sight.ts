// Texts and facts of a tree's files for a value that is kept: as the sight has them, and where it could
// not tell, as they are found now, which says why.

import type { StampFacts } from "../os/mod.ts";
import { factsBeneath } from "./beneath.ts";
import { readOptional } from "./control-file.ts";
import type { Tree } from "./open.ts";
import type { Sight } from "./value-cache.ts";

/** `readOptional` of a name in a folder. */
export function textSeen(
  tree: Tree,
  sight: Sight,
  folder: string,
  name: string,
): string | undefined {
  const found = sight.of(folder, name);
  if (found !== undefined && found.facts === undefined) return undefined;
  return readOptional(tree, `${folder}/${name}`, found?.folder);
}

export interface ObjectFacts extends Omit<StampFacts, "kind"> {
  readonly kind: StampFacts["kind"] | "other";
}

/** `factsBeneath` of a name in a folder. */
export function factsSeen(
  tree: Tree,
  sight: Sight,
  folder: string,
  name: string,
): ObjectFacts | undefined {
  const found = sight.of(folder, name);
  if (found !== undefined) return found.facts;
  const facts = factsBeneath(tree.folder, `${folder}/${name}`);
  if (facts === undefined) return undefined;
  const { uid, gid, mode } = facts;
  return {
    kind: facts.isFile() ? "file" : facts.isDirectory() ? "folder" : "other",
    uid,
    gid,
    mode,
  };
}
