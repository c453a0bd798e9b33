// Asks a session's log, without opening the session, whether it accepted a request. Used to tell a
// claim that stands from one that a crash left behind.

import { closeSync, fstatSync } from "node:fs";
import { openBeneath } from "../os/mod.ts";
import { scanChunkBytes } from "./bounds.ts";
import { existsBeneath, type Root } from "./folders.ts";
import { JsonLines } from "./lines.ts";

/** Throws EIO for a log that cannot be read to its end: then nothing can be said. */
export function holdsAccepted(root: Root, relative: string, request: string): boolean {
  const file = `${relative}/events.jsonl`;
  if (!existsBeneath(root, file)) return false;
  const fd = openBeneath(root.fd, file, "read");
  try {
    const lines = new JsonLines(fd, file, 0, fstatSync(fd).size, scanChunkBytes);
    for (let line = lines.next(); line !== undefined; line = lines.next()) {
      const { type, request: found } = line.value;
      if (type === "request.accepted" && found === request) return true;
    }
    return false;
  } finally {
    closeSync(fd);
  }
}
