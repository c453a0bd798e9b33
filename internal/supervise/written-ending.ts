// Writes down how a terminal ended, as its owner, also when no server is there to be told.

import { closeSync } from "node:fs";
import { openPath, readBeneath } from "../os/mod.ts";
import type { Ending } from "./recorder.ts";
import { resourceFileBytesMax, type TerminalMeta } from "./resource.ts";
import { writeSmallFile } from "./small-file.ts";

/** `status` comes before `state`: whoever reads that it has exited finds with what. */
export function writeEnding(resource: string, { status, signal }: Ending, at: Date): void {
  const folder = openPath(resource, "folder");
  const write = (name: string, text: string) => writeSmallFile(folder, name, text);
  try {
    write("status", `${status}\n`);
    const bytes = readBeneath(folder, "meta.json", resourceFileBytesMax);
    const meta = JSON.parse(new TextDecoder().decode(bytes)) as TerminalMeta;
    const ended: TerminalMeta = {
      ...meta,
      ended_at: at.toISOString(),
      signal: signal ?? null,
    };
    write("meta.json", `${JSON.stringify(ended)}\n`);
    write("state", "exited\n");
  } finally {
    closeSync(folder);
  }
}
