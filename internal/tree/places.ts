// The places of one installation as they are on this host; making and checking the runtime folder is
// `runtime-folder.ts`.

import { lstatSync, realpathSync } from "node:fs";
import {
  absolutePath,
  type Places,
  type PlacesOptions,
  placesWith,
  runtimeOfTree,
} from "./place-names.ts";

/** `placesWith` for this host. Throws EINVAL as it does. */
export function resolvePlaces(options: PlacesOptions): Places {
  return placesWith(options, isFolder);
}

/**
 * The folder of one tree's live state: its locks and real sockets. Two names of the same tree, for
 * example through a symlink, give the same folder.
 */
export function treeRuntime(places: Pick<Places, "runtime" | "source">): string {
  return runtimeOfTree(places.runtime, canonical(places.source));
}

/** The real path; a path that does not exist (yet) stands for itself. */
export function canonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return absolutePath(path);
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
