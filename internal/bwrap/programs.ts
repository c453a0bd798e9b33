// Where the host's programs are. Only these folders are looked at, never PATH: whoever starts ctxd
// with an odd environment must not choose what runs as the first program of every sandbox.

import { accessSync, constants } from "node:fs";

const folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];

export type HostProgram = "bwrap" | "setpriv" | "pasta" | "slirp4netns" | "nsenter";

/** The Debian package that brings each program. */
export const debianPackages: Readonly<Record<HostProgram, string>> = {
  bwrap: "bubblewrap",
  setpriv: "util-linux",
  pasta: "passt",
  slirp4netns: "slirp4netns",
  nsenter: "util-linux",
};

const found = new Map<HostProgram, string>();

/** The program's absolute path, or undefined when none of the fixed folders has it. */
export function hostProgram(name: HostProgram): string | undefined {
  const known = found.get(name);
  if (known !== undefined) return known;
  for (const folder of folders) {
    const path = `${folder}/${name}`;
    try {
      accessSync(path, constants.X_OK);
      // Only a hit is kept: a person who installs the package need not restart the server.
      found.set(name, path);
      return path;
    } catch {
      // Not here.
    }
  }
  return undefined;
}
