// Spilled output: whole tool outputs that did not fit an observation, kept beside the session by
// their hash. The same output is stored once.

import { createHash, randomBytes } from "node:crypto";
import { closeSync, fchmodSync, fsyncSync, renameSync, unlinkSync } from "node:fs";
import type { FileOwner } from "../os/mod.ts";
import { openBeneath, throughFolder, writeAll } from "../os/mod.ts";
import { fileCalls } from "./durable-file.ts";
import { existsBeneath, giveTo, makeFolders, type Root, withFolder } from "./folders.ts";
import type { ChunkRef } from "./records.ts";

const chunkFolder = "context/swap/chunk";

/** Durable before it resolves. Throws what the system says, e.g. ENOSPC, and leaves nothing then. */
export async function keepChunk(
  root: Root,
  session: string,
  owner: FileOwner,
  bytes: Uint8Array,
): Promise<ChunkRef> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const folder = `${session}/${chunkFolder}`;
  const name = `sha256-${sha256}`;
  const ref = { sha256, bytes: bytes.length };
  if (existsBeneath(root, `${folder}/${name}`)) return ref;
  makeFolders(root, folder, owner);
  const temporary = `.${randomBytes(8).toString("hex")}.tmp`;
  const fd = openBeneath(root.fd, `${folder}/${temporary}`, "create", 0o600);
  try {
    fchmodSync(fd, 0o600);
    giveTo(fd, owner);
    writeAll(fd, bytes);
    await fileCalls.sync(fd);
    withFolder(root, folder, (at) => {
      renameSync(throughFolder(at, temporary), throughFolder(at, name));
      fsyncSync(at);
    });
  } catch (error) {
    withFolder(root, folder, (at) => unlinkSync(throughFolder(at, temporary)));
    throw error;
  } finally {
    closeSync(fd);
  }
  return ref;
}
