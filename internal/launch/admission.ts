// Whether the folders that a request names can be given at all, asked before anything of the request
// is recorded: a person hears at once that a workspace cannot be shared or that a working folder is
// not there, instead of an agent at every call. Each launch decides anew; this makes nothing.

import { closeSync, fstatSync } from "node:fs";
import { relative } from "node:path";
import { coded, fail } from "../abi/mod.ts";
import { openBeneath, openPath } from "../os/mod.ts";
import { forbiddenPlaces } from "./host-folder.ts";
import { isBelow, readMounts } from "./location.ts";
import { homeView, refuseOutside, workspacePlan, workspaceView } from "./plan.ts";
import type { LauncherOptions, WorkFolders } from "./types.ts";

/** Throws EACCES for what is outside or may not be shared, ENOENT for what is missing. */
export function checkWorkFolders(options: LauncherOptions, request: WorkFolders): void {
  const { agent, controls, home, workspace, cwd } = request;
  const folders = new Map([[homeView, home]]);
  if (workspace !== undefined) {
    const mounts = readMounts();
    const forbidden = forbiddenPlaces(options.places, options.runtime, mounts);
    folders.set(workspaceView, workspacePlan(workspace, mounts, forbidden).source.path);
  }
  for (const { target, source } of controls.mount) {
    if (!folders.has(target)) folders.set(target, source);
  }
  if (cwd === undefined) return;
  refuseOutside(agent, cwd, [...folders.keys()]);
  const view = [...folders.keys()]
    .filter((each) => isBelow(cwd, each))
    .sort((a, b) => b.length - a.length)[0];
  if (view !== undefined) refuseMissing(cwd, folders.get(view) as string, relative(view, cwd));
}

/** A path through a symlink is left to the sandbox, in which alone it means what it says. */
function refuseMissing(cwd: string, host: string, inside: string): void {
  let folder: number | undefined;
  let found: number | undefined;
  try {
    folder = openPath(host, "folder");
    found = openBeneath(folder, inside === "" ? "." : inside, "path");
    if (!fstatSync(found).isDirectory()) fail("ENOENT", `folder "${cwd}" is not a folder`);
  } catch (error) {
    const { code } = coded(error);
    if (code === "ENOENT") fail("ENOENT", `folder "${cwd}" does not exist`, { cause: error });
  } finally {
    for (const fd of [folder, found]) if (fd !== undefined) closeSync(fd);
  }
}
