// Writes one of a terminal's small files: as a whole or not at all, and where the disk has no room for a
// second one, over the one that is there, so that it does not go on saying what is no longer so.

import { closeSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import { coded, fail } from "../abi/mod.ts";
import { type FileOwner, openBeneath, replaceFile } from "../os/mod.ts";

/** The unit in which the kernel counts what a file has of the disk. */
const blockBytes = 512;

/** Throws the error of the replacement, with the file's name, when neither works. */
export function writeSmallFile(
  folder: number,
  name: string,
  text: string,
  owner?: FileOwner | undefined,
): void {
  try {
    replaceFile(folder, name, text, { mode: 0o600, owner, durable: false });
  } catch (error) {
    const { code, message } = coded(error);
    if (code === "ENOSPC" && isWrittenOver(folder, name, text)) return;
    fail(code, `cannot write "${name}": ${message}`, { cause: error });
  }
}

/** Only within what the file has of the disk already: a part of it would be worse than the old one. */
function isWrittenOver(folder: number, name: string, text: string): boolean {
  const bytes = new TextEncoder().encode(text);
  let fd: number | undefined;
  try {
    fd = openBeneath(folder, name, "write");
    const facts = fstatSync(fd);
    if (!facts.isFile() || facts.nlink > 1 || bytes.length > facts.blocks * blockBytes)
      return false;
    const isWhole = writeSync(fd, bytes, 0, bytes.length, 0) === bytes.length;
    if (isWhole) ftruncateSync(fd, bytes.length);
    return isWhole;
  } catch {
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
