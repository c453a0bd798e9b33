// A replacement in two halves: what is written and made durable now can take its place later, or
// never. The disk is waited for off the event loop.

import { close, closeSync, fchmodSync, fchownSync, fsync, renameSync, unlinkSync } from "node:fs";
import { type FileOwner, openBeneath, temporaryName, throughFolder, writeAll } from "./files.ts";

export interface StagedFile {
  /** Takes the place of the old file, durably. */
  publish(): Promise<void>;
  /** Leaves nothing. */
  drop(): void;
}

/**
 * Writes the content under a temporary name in the folder, which it closes at the end, whichever
 * comes. `facts` says what the file gets and may refuse. When this rejects nothing is left. All but the
 * waiting for the disk is done when it returns.
 */
export async function stageFile(
  folder: number,
  name: string,
  content: string,
  facts: () => { readonly mode: number; readonly owner: FileOwner | undefined },
): Promise<StagedFile> {
  const temporary = throughFolder(folder, temporaryName(name));
  const remove = () => {
    try {
      unlinkSync(temporary);
    } catch {
      // It was never made, or somebody was faster.
    }
  };
  const drop = () => {
    remove();
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
      const release = held(folder, name);
      try {
        rename(temporary, throughFolder(folder, name), remove);
        await synced(folder);
      } finally {
        closeSync(folder);
        release();
      }
    },
  };
}

/**
 * Keeps the old file for as long as its name is being given away, since the kernel frees its blocks at
 * once when nothing else has it, which takes longer than the renaming. Freed later, off the event loop.
 */
function held(folder: number, name: string): () => void {
  let fd: number;
  try {
    fd = openBeneath(folder, name, "path");
  } catch {
    // There is none, or it is nothing that anybody would read.
    return () => undefined;
  }
  return () => void setImmediate(() => close(fd, () => undefined));
}

function rename(from: string, to: string, failed: () => void): void {
  try {
    renameSync(from, to);
  } catch (error) {
    failed();
    throw error;
  }
}

function synced(fd: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(fd, (error) => (error ? reject(error) : resolve()));
  });
}
