// The agent's `mount` control as binds. A source may not touch a place of ours; a target may not
// hide what the sandbox is made of, and no mount point is made in a folder of the host.

import { join, relative } from "node:path";
import { fail } from "../abi/mod.ts";
import type { MountLine } from "../control/mod.ts";
import type { Bind } from "../sandbox/mod.ts";
import { type Forbidden, grantable } from "./host-folder.ts";
import { isBelow, type Location, locate, type Mount } from "./location.ts";

const reservedTargets = /^\/(usr|bin|sbin|lib[0-9a-z]*|etc|proc|sys|dev|run|ctx)(\/|$)/;

export interface MountPlan {
  readonly bind: Bind;
  readonly source: Location;
}

/** `existing` are host folders of the view; in these and in earlier lines' a target must exist. */
export function mountPlans(
  lines: readonly MountLine[],
  mounts: readonly Mount[],
  forbidden: readonly Forbidden[],
  existing: readonly { readonly host: string; readonly view: string }[],
): MountPlan[] {
  const shared = [...existing];
  return lines.map((line) => {
    const source = grantable("mount source", line.source, mounts, forbidden);
    checkTarget(line.target, shared, mounts);
    if (line.access === "rw" && isBelow(line.target, "/tmp")) {
      // Sockets may be made there, which no folder that another sandbox can see may hold.
      fail("EACCES", `mount target "${line.target}" lies in "/tmp", which is the sandbox's own`, {
        hint: "choose a target such as /data, or mount it ro",
      });
    }
    if (!line.recursive) checkFlat(source, mounts);
    const { target: view, access, noexec } = line;
    shared.push({ host: source.path, view });
    return { source, bind: { host: source.path, view, access, noexec } };
  });
}

function checkTarget(
  target: string,
  shared: readonly { readonly host: string; readonly view: string }[],
  mounts: readonly Mount[],
): void {
  if (reservedTargets.test(target) || isBelow("/home/agent", target) || target === "/tmp") {
    fail("EACCES", `mount target "${target}" would hide a part of the sandbox`, {
      hint: "choose a target such as /data",
    });
  }
  if (isBelow(target, "/home/agent/session")) {
    fail("EACCES", `mount target "${target}" lies in the session folder`);
  }
  const folder = shared.findLast(({ view }) => target !== view && isBelow(target, view));
  if (folder === undefined) return;
  const host = join(folder.host, relative(folder.view, target));
  let real: string;
  try {
    real = locate(host, mounts).path;
  } catch {
    fail("ENOENT", `mount target "${target}" does not exist in "${folder.view}"`, {
      hint: "make the folder first: nothing is created there by a mount",
    });
  }
  if (real !== host) fail("EACCES", `mount target "${target}" leads through a symlink`);
}

/** bubblewrap always binds with what is mounted below, so `bind` is only honest without any. */
function checkFlat(source: Location, mounts: readonly Mount[]): void {
  const below = mounts.find(({ point }) => point !== source.path && isBelow(point, source.path));
  if (below === undefined) return;
  fail("EACCES", `mount source "${source.path}" holds another mount at "${below.point}"`, {
    hint: "write rbind in the mount line to share that too",
  });
}
