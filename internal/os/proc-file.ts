// Small files of /proc, which are read at every check of a peer and so without any of the care that a
// file of unknown size takes: the kernel makes the whole text for one read.

import { closeSync, openSync, readSync } from "node:fs";

/** Bytes of one read. `stat` and `fdinfo` have a few hundred, of numbers and a name of bounded length. */
const procFileBytesMax = 4096;

const area = Buffer.alloc(procFileBytesMax);

/** The text, byte for byte as characters up to 255; throws what open(2) and read(2) say. */
export function readProcFile(path: string): string {
  const fd = openSync(path, "r");
  try {
    return area.toString("latin1", 0, readSync(fd, area, 0, procFileBytesMax, 0));
  } finally {
    closeSync(fd);
  }
}
