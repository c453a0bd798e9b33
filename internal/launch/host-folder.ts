// Which host folders an agent may be given. Hiding our own folders inside a bigger one would not be
// enough: whoever may write a parent can rename it and walk in by the new name. So a folder that
// touches one of them is refused as a whole.

import { CodedError, coded, fail } from "../abi/mod.ts";
import type { Places } from "../tree/mod.ts";
import { isBelow, type Location, locate, locateFuture, type Mount, overlap } from "./location.ts";

const systemFolders = ["/proc", "/sys", "/dev", "/run", "/boot", "/etc"];

/** File systems that are the kernel's own windows: on the host's processes, devices and settings. */
const kernelFileSystems = new Set([
  ...["proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "securityfs", "debugfs"],
  ...["tracefs", "configfs", "bpf", "pstore", "mqueue", "efivarfs", "fusectl", "binfmt_misc"],
]);

export interface Forbidden {
  readonly what: string;
  readonly at: Location;
}

/** Ours, whether they exist already or not. */
export function forbiddenPlaces(
  places: Places,
  runtime: string,
  mounts: readonly Mount[],
): Forbidden[] {
  const ours: readonly (readonly [string, string])[] = [
    ["the source tree", places.source],
    ["the runtime folder", places.runtime],
    ["the runtime folder", runtime],
    ["the secrets folder", places.secrets],
    ["the configuration folder", places.config],
    // By where they are; `grantable` names them by path first, which reads better.
    ...systemFolders.map((path) => ["the system folder", path] as const),
  ];
  return ours.map(([what, path]) => ({ what, at: locateFuture(path, mounts) }));
}

/** `what` names it in messages, e.g. "workspace". Throws EACCES, ENOENT, or what the kernel says. */
export function grantable(
  what: string,
  path: string,
  mounts: readonly Mount[],
  forbidden: readonly Forbidden[],
): Location {
  if (!path.startsWith("/")) fail("EINVAL", `${what} "${path}" is not an absolute path`);
  let place: Location;
  try {
    place = locate(path, mounts);
  } catch (error) {
    throw unreachable(what, path, coded(error));
  }
  const hint = "choose a folder of its own for the work";
  for (const system of systemFolders) {
    if (!isBelow(place.path, system)) continue;
    fail("EACCES", `${what} "${path}" lies in "${system}", which is never shared`, { hint });
  }
  if (place.path === "/") fail("EACCES", `${what} "${path}" is the whole file system`, { hint });
  const kernel = mounts.find(
    ({ point, type }) => kernelFileSystems.has(type) && isBelow(point, place.path),
  );
  if (kernel !== undefined || kernelFileSystems.has(place.type)) {
    const at = kernel?.point ?? place.path;
    fail("EACCES", `${what} "${path}" shows the host's own system at "${at}"`, { hint });
  }
  for (const { what: ours, at } of forbidden) {
    const how = overlap(place, at, mounts);
    if (how === undefined) continue;
    fail("EACCES", `${what} "${path}" ${how} ${ours} "${at.path}"`, { hint });
  }
  return place;
}

function unreachable(what: string, path: string, { code, message }: CodedError): CodedError {
  if (code === "ENOENT") return new CodedError(code, `${what} "${path}" does not exist`);
  if (code === "EACCES") return new CodedError(code, `${what} "${path}" is not accessible`);
  return new CodedError(code, `${what} "${path}" cannot be opened: ${message}`);
}
