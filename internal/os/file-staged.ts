// A replacement in two halves: what is written and made durable now can take its place later, or
// never. The disk is waited for off the event loop.

import { closeSync, fchmodSync, fchownSync, fsync, renameSync, unlinkSync } from "node:fs";
import { type FileOwner, openBeneath, temporaryName, throughFolder, writeAll } from "./files.ts";

export interface StagedFile {
  /** Takes the place of the old file, durably. */
  publish(): Promise<void>;
  /** Leaves nothing. */
  drop(): void;
}

/**
 * Writes the content under a temporary name in the folder, which it closes at the end, whichever
 * comes. `facts` says what the file gets and may refuse. When this rejects nothing is left.
 */
export async function stageFile(
  folder: number,
  name: string,
  content: string,
  facts: () => { readonly mode: number; readonly owner: FileOwner | undefined },
): Promise<StagedFile> {
  const temporary = throughFolder(folder, temporaryName(name));
  const drop = () => {
    try {
      unlinkSync(temporary);
    } catch {
      // It was never made, or has its name already.
    }
    closeSync(folder);
  };
  try {
    const { mode, owner } = facts();
    const fd = openBeneath(folder, temporary.slice(temporary.lastIndexOf("/") + 1), "create", mode);
    try {
      writeAll(fd, new TextEncoder().encode(content));
      fchmodSync(fd, mode);
      if (owner) fchownSync(fd, owner.uid, owner.gid);
      await synced(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    drop();
    throw error;
  }
  return {
    drop,
    async publish() {
      try {
        renameSync(temporary, throughFolder(folder, name));
        await synced(folder);
      } finally {
        drop();
      }
    },
  };
}

function synced(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => (error ? reject(error) : resolve()));
  });
}
