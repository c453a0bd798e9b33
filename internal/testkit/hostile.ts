// How to start the hostile server, here or in a folder that it was brought to.

import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** The system's own, which a sandbox has too; undefined where there is none. */
export const python = Bun.which("python3", { PATH: "/usr/bin:/bin" }) ?? undefined;

/** Where Python keeps what it has compiled, which takes longer than all else that a server does. */
const compiled = `pycache_prefix=${resolve(import.meta.dir, "../../.cache/python")}`;

/** How Python is started: neither the caller's environment nor the machine's packages decide. */
export const pythonArgv = [python ?? "python3", "-S", "-E", "-X", compiled];

/** The server's files; to run it elsewhere they are brought along, all of them. */
export const hostileFiles = readdirSync(import.meta.dir)
  .filter((name) => /^hostile_\w+\.py$/.test(name))
  .map((name) => join(import.meta.dir, name));

/** The argv of the server with this script; `folder` is where its files are. */
export function hostileServer(
  script: string,
  args: readonly string[] = [],
  folder = import.meta.dir,
): string[] {
  return [...pythonArgv, join(folder, "hostile_server.py"), script, ...args];
}

/** Every script that there is. */
export function hostileScripts(): string[] {
  const listing = Bun.spawnSync([...hostileServer("--list")], { stderr: "inherit" });
  const lines = listing.stdout.toString().trimEnd().split("\n");
  return lines.map((line) => line.split("\t")[0] as string);
}
