// Where a path really is: which file system, and where in it. Two paths of the same place have the
// same location, whatever symlinks or bind mounts lead there, so "inside" and "contains" are asked
// of locations and never of names.

import { closeSync, fstatSync, readFileSync, readlinkSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { coded } from "../abi/mod.ts";
import { openPath } from "../os/mod.ts";

export interface Mount {
  readonly id: number;
  /** major:minor of the file system. */
  readonly device: string;
  /** The folder of that file system which is mounted. */
  readonly root: string;
  readonly point: string;
  /** Its kind of file system, such as "ext4". */
  readonly type: string;
  /** Its own options, such as "ro,nosuid". */
  readonly options: string;
}

export interface Location {
  /** Absolute, without symlinks. */
  readonly path: string;
  readonly device: string;
  /** The path within the file system. */
  readonly inside: string;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly folder: boolean;
  /** The kind of its file system; empty when no mount of it is known. */
  readonly type: string;
}

/** The mounts that this process sees. */
export function readMounts(): Mount[] {
  return parseMounts(readFileSync("/proc/self/mountinfo", "utf8"));
}

/** The format of proc(5), mountinfo; octal escapes are undone. */
export function parseMounts(text: string): Mount[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const fields = line.split(" ");
      const [id = "", , device = "", root = "", point = "", options = ""] = fields;
      const type = fields[fields.indexOf("-", 6) + 1] ?? "";
      const places = { root: unescaped(root), point: unescaped(point) };
      return { id: Number(id), device, ...places, type, options };
    });
}

function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** Throws the errno's CodedError when the path cannot be reached. */
export function locate(path: string, mounts: readonly Mount[]): Location {
  let fd: number;
  try {
    fd = openPath(path, "path");
  } catch (error) {
    throw coded(error);
  }
  try {
    const facts = fstatSync(fd, { bigint: true });
    const real = readlinkSync(`/proc/self/fd/${fd}`);
    const mount = mountOf(fd, mounts);
    return {
      path: real,
      device: mount?.device ?? `dev ${facts.dev}`,
      inside: mount ? join(mount.root, relative(mount.point, real)) : real,
      dev: facts.dev,
      ino: facts.ino,
      folder: facts.isDirectory(),
      type: mount?.type ?? "",
    };
  } finally {
    closeSync(fd);
  }
}

function mountOf(fd: number, mounts: readonly Mount[]): Mount | undefined {
  const facts = readFileSync(`/proc/self/fdinfo/${fd}`, "utf8");
  const id = Number(/^mnt_id:\s*(\d+)/m.exec(facts)?.[1]);
  return mounts.find((each) => each.id === id);
}

/** Whether programs below `path` cannot be started; so they cannot where it is bound, either. */
export function isNoexec(path: string, mounts: readonly Mount[]): boolean {
  const fd = openPath(path, "path");
  try {
    // A mount that is not known, because it was made just now, counts as the worse.
    return mountOf(fd, mounts)?.options.split(",").includes("noexec") ?? true;
  } finally {
    closeSync(fd);
  }
}

/** The location of a path that may not exist yet: of its nearest ancestor, and the rest. */
export function locateFuture(path: string, mounts: readonly Mount[]): Location {
  try {
    return locate(path, mounts);
  } catch (error) {
    if (dirname(path) === path) throw error;
    const above = locateFuture(dirname(path), mounts);
    const name = basename(path);
    return {
      ...above,
      path: join(above.path, name),
      inside: join(above.inside, name),
      ino: -1n,
    };
  }
}

export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** How `place` and `other` touch, seen from `place`; mounts below `place` count as part of it. */
export function overlap(
  place: Location,
  other: Location,
  mounts: readonly Mount[],
): "is" | "contains" | "lies inside" | undefined {
  if (place.device === other.device) {
    if (place.inside === other.inside) return "is";
    if (isBelow(other.inside, place.inside)) return "contains";
    if (isBelow(place.inside, other.inside)) return "lies inside";
  }
  if (place.dev === other.dev && place.ino === other.ino) return "is";
  if (isBelow(other.path, place.path)) return "contains";
  for (const mount of mounts) {
    if (!isBelow(mount.point, place.path) || mount.point === place.path) continue;
    if (mount.device !== other.device) continue;
    if (isBelow(other.inside, mount.root) || isBelow(mount.root, other.inside)) return "contains";
  }
  return undefined;
}
