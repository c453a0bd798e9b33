// Where things of one installation are, from the environment alone: the source tree, live state,
// configuration, secrets. Every place can be named (CTX_SOURCE, CTX_RUNTIME_DIR, CTX_CONFIG_DIR,
// CTX_SECRETS_DIR), so that a throw-away tree shares nothing with a person's own. Looks at no file
// and loads neither node:fs nor node:path, each of which takes longer to load than `ctx status` runs.

import { fail } from "../abi/mod.ts";

export interface Places {
  /** System: ctxd as root serves many users. User: it serves one, itself. */
  readonly mode: "system" | "user";
  readonly uid: number;
  /** The durable tree, an absolute path. */
  readonly source: string;
  /** Base of live state; one tree uses `treeRuntime`. */
  readonly runtime: string;
  /** The folder that holds `ctxd.conf` and `providers.d`. */
  readonly config: string;
  readonly secrets: string;
}

export interface PlacesOptions {
  /** Of `--source`; wins over the environment. */
  readonly source?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
}

/**
 * The places for a process of `uid`. Throws EINVAL when a user has neither HOME nor the variable
 * that names a place, or when CTX_RUNTIME_DIR, CTX_CONFIG_DIR or CTX_SECRETS_DIR is not absolute.
 */
export function placesWith(options: PlacesOptions, isFolder: (path: string) => boolean): Places {
  const { env, uid } = options;
  const system = uid === 0;
  return {
    mode: system ? "system" : "user",
    uid,
    source: sourceOf(options, system),
    runtime:
      absolute(env, "CTX_RUNTIME_DIR") ??
      (system ? "/run/cortexfs" : userRuntime(env, uid, isFolder)),
    config:
      absolute(env, "CTX_CONFIG_DIR") ??
      (system ? "/etc/cortexfs" : join(userFolder(env, "XDG_CONFIG_HOME", ".config"), "cortexfs")),
    secrets:
      absolute(env, "CTX_SECRETS_DIR") ??
      (system ? "/var/lib/cortexfs/secrets" : join(userData(env), "cortexfs/secrets")),
  };
}

function sourceOf({ source, env }: PlacesOptions, system: boolean): string {
  const named = source ?? nonEmpty(env["CTX_SOURCE"]);
  if (named === "") fail("EINVAL", "the source tree's path is empty");
  if (named !== undefined) return absolutePath(named);
  return system ? "/var/lib/cortexfs/storage/current" : join(userData(env), "cortexfs/current");
}

/** The folder of one tree's live state below `runtime`; `source` is the tree's real path. */
export function runtimeOfTree(runtime: string, source: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(source).digest("hex");
  return join(runtime, `tree-${hash.slice(0, 16)}`);
}

/**
 * A user's runtime base: XDG_RUNTIME_DIR, else the folder a login makes, else, when neither exists, a
 * private folder in /tmp, which `ensureRuntimeFolder` refuses when somebody else made it first.
 */
function userRuntime(
  env: PlacesOptions["env"],
  uid: number,
  isFolder: (path: string) => boolean,
): string {
  const named = env["XDG_RUNTIME_DIR"];
  if (named !== undefined && isAbsolute(named) && isFolder(named)) return join(named, "cortexfs");
  return isFolder(`/run/user/${uid}`) ? `/run/user/${uid}/cortexfs` : `/tmp/cortexfs-${uid}`;
}

function userData(env: PlacesOptions["env"]): string {
  return userFolder(env, "XDG_DATA_HOME", ".local/share");
}

/** By the XDG rule a relative value counts as unset. */
function userFolder(env: PlacesOptions["env"], variable: string, below: string): string {
  const named = env[variable];
  if (named !== undefined && isAbsolute(named)) return named;
  const home = env["HOME"];
  if (home !== undefined && isAbsolute(home)) return join(home, below);
  return fail("EINVAL", `HOME is not set, so the place of "${below}" is not known`, {
    hint: `set HOME or ${variable}`,
  });
}

function absolute(env: PlacesOptions["env"], variable: string): string | undefined {
  const value = nonEmpty(env[variable]);
  if (value === undefined || isAbsolute(value)) return value;
  return fail("EINVAL", `${variable} is ${JSON.stringify(value)}, which is not an absolute path`);
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/");
}

function join(folder: string, below: string): string {
  return `${folder.replace(/\/+$/, "")}/${below}`;
}

/** Without empty, `.` and `..` components, from the current folder when it is relative. */
export function absolutePath(path: string): string {
  const parts: string[] = [];
  for (const part of (isAbsolute(path) ? path : `${process.cwd()}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
