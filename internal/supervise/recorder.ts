// Keeps what happened in a terminal: what its owner hands out on standard output becomes the lines of
// events.jsonl. It is read as fast as it comes, so that the terminal never waits for a disk.

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { DraftDecoder, encodeRecord } from "../terminal-wire/mod.ts";

/** As a shell says it. */
export interface Ending {
  readonly status: number;
  readonly signal?: number;
}

/** Resolves at the end of the stream with how the child ended, if the stream said so. */
export async function keepRecording(
  stream: AsyncIterable<Uint8Array>,
  folder: string,
): Promise<Ending | undefined> {
  const decoder = new DraftDecoder();
  let ending: Ending | undefined;
  let seq = 0;
  for await (const bytes of stream) {
    for (const result of decoder.push(bytes)) {
      if (!result.ok) continue;
      const { draft } = result;
      appendFileSync(join(folder, "events.jsonl"), encodeRecord(draft, ++seq), { mode: 0o600 });
      if (draft.type !== "process.exit") continue;
      const { status, signal } = draft;
      ending = signal > 0 ? { status, signal } : { status };
    }
  }
  return ending;
}
