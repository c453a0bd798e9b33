// Files of a session's `context/` folder: what the session keeps beside its log for its next run.
// They can be rebuilt, so no sync is paid for them, but who writes one is told when it fails.

import { coded, fail } from "../abi/mod.ts";
import { type FileOwner, readBeneath, replaceFile, TooLong } from "../os/mod.ts";
import { makeFolders, pathError, type Root, withFolder } from "./folders.ts";

/** Undefined when there is none. EMSGSIZE past `bytesMax`. */
export function readContextFile(
  root: Root,
  relative: string,
  name: string,
  bytesMax: number,
): string | undefined {
  const path = `${relative}/context/${name}`;
  try {
    return new TextDecoder().decode(readBeneath(root.fd, path, bytesMax));
  } catch (error) {
    if (error instanceof TooLong) fail("EMSGSIZE", `"${path}" has more than ${bytesMax} bytes`);
    if (coded(error).code === "ENOENT") return undefined;
    throw pathError(error, path);
  }
}

export function writeContextFile(
  root: Root,
  relative: string,
  owner: FileOwner,
  name: string,
  text: string,
): void {
  const folder = `${relative}/context`;
  try {
    makeFolders(root, folder, owner);
    const given = process.getuid?.() === 0 ? owner : undefined;
    withFolder(root, folder, (fd) =>
      replaceFile(fd, name, text, { mode: 0o600, durable: false, owner: given }),
    );
  } catch (error) {
    throw pathError(error, `${folder}/${name}`);
  }
}
