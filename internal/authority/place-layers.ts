// Where the executable lies: may this identity reach and execute it by its mode bits, and does a
// mount lie over it that forbids execution.

import { formatMount, type MountLine } from "../control/mod.ts";
import { allows, refuses } from "./layer.ts";
import type { Facts, LayerVerdict, ModeFacts, Question } from "./types.ts";

export function modeLayer(facts: Facts, question: Question): LayerVerdict {
  if (question.object.class !== "tool") {
    return allows("mode", "no executable is involved, the kernel checks each file that is opened");
  }
  const modes = facts.tool?.modes ?? [];
  const last = modes.at(-1);
  if (last === undefined) return allows("mode", "there is no executable to check");
  for (const place of modes) {
    const folder = place !== last;
    if (mayExecute(facts.identity, place, folder)) continue;
    const octal = (place.mode & 0o7777).toString(8).padStart(4, "0");
    const { role, uid } = { role: roleOf(facts.identity, place), uid: facts.identity.uid };
    const need = folder ? "x to search it" : "x to execute it";
    const because = `${place.path} has mode ${octal} of ${place.uid}:${place.gid}, uid ${uid} needs ${need} as ${role}`;
    return refuses("mode", because, { at: place.path });
  }
  return allows("mode", `uid ${facts.identity.uid} may reach and execute ${last.path}`);
}

type Identity = Facts["identity"];
type Role = "owner" | "group" | "other";

const roleShift: Readonly<Record<Role, number>> = { owner: 6, group: 3, other: 0 };

/** The one class of bits that counts: an owner without a bit does not get it as a group member. */
function roleOf(identity: Identity, place: ModeFacts): Role {
  if (identity.uid === place.uid) return "owner";
  if (identity.gid === place.gid || identity.groups.includes(place.gid)) return "group";
  return "other";
}

/** path_resolution(7): root searches every folder and executes what has any x bit. */
function mayExecute(identity: Identity, place: ModeFacts, folder: boolean): boolean {
  if (identity.uid === 0) return folder || (place.mode & 0o111) !== 0;
  return ((place.mode >> roleShift[roleOf(identity, place)]) & 1) === 1;
}

export function mountLayer(facts: Facts, question: Question): LayerVerdict {
  const path = facts.tool?.path;
  if (question.object.class !== "tool" || path === undefined) {
    return allows("mount", "no executable is involved");
  }
  const mount = covering(facts.mounts, path);
  if (mount === undefined) return allows("mount", `no mount lies over ${path}`);
  const file = `${facts.controls}/mount`;
  const at = `${file}:${mount.line}`;
  if (!mount.noexec) return allows("mount", `the mount over ${path} permits execution`, at);
  const line = formatMount({ ...mount, noexec: false });
  return refuses("mount", `${path} lies below ${mount.target}, which is mounted noexec`, {
    at,
    fix: { file, line },
  });
}

/** Later mounts lie over earlier ones, so the last one that holds the path decides. */
function covering(mounts: readonly MountLine[], path: string): MountLine | undefined {
  return mounts.findLast(({ target }) => {
    const folder = target === "/" ? "/" : `${target}/`;
    return path === target || path.startsWith(folder);
  });
}
