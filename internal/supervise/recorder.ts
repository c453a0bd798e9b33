// Keeps what happened in a terminal: what its owner hands out on standard output becomes the lines of
// events.jsonl. It is read as fast as it comes, so that the terminal never waits for a disk.

import { closeSync } from "node:fs";
import { coded, fail } from "../abi/mod.ts";
import { openPath } from "../os/mod.ts";
import { openRecording, type Recording } from "../terminal/mod.ts";
import { DraftDecoder } from "../terminal-wire/mod.ts";

const recordingName = "events.jsonl";

/** As a shell says it. */
export interface Ending {
  readonly status: number;
  readonly signal?: number;
}

/** Who is told that the child has ended: whoever reads it anywhere finds the one before told. */
export interface HearsEnding {
  isOver(): void;
  isRecorded(ending: Ending): void;
}

export class Recorder {
  readonly #folder: number;
  readonly #recording: Recording;
  #ending: Ending | undefined;

  /** Throws when the log in that folder cannot be opened; afterwards nothing of it throws. */
  constructor(path: string) {
    this.#folder = openPath(path, "folder");
    try {
      this.#recording = openRecording({ folder: this.#folder, name: recordingName });
    } catch (error) {
      closeSync(this.#folder);
      const { code, message, hint } = coded(error);
      fail(code, `cannot record to "${path}/${recordingName}": ${message}`, {
        ...(hint !== undefined && { hint }),
        cause: error,
      });
    }
  }

  /** How the child ended, once the stream has said so. */
  get ending(): Ending | undefined {
    return this.#ending;
  }

  /** Resolves at the end of the stream. */
  async keep(stream: AsyncIterable<Uint8Array>, hears: HearsEnding): Promise<void> {
    const decoder = new DraftDecoder();
    for await (const bytes of stream) {
      for (const result of decoder.push(bytes)) {
        if (!result.ok) {
          this.#recording.push({ type: "gap", at: Date.now(), bytes: 0, reason: "damaged" });
        } else if (result.draft.type === "process.exit") {
          const { status, signal } = result.draft;
          this.#ending = signal > 0 ? { status, signal } : { status };
          hears.isOver();
          this.#recording.push(result.draft);
          hears.isRecorded(this.#ending);
        } else {
          this.#recording.push(result.draft);
        }
      }
    }
  }

  /** For a child whose owner was killed before it could say how it ended. */
  end({ status, signal = 0 }: Ending): void {
    if (this.#ending !== undefined) return;
    this.#recording.push({ type: "process.exit", at: Date.now(), status, signal });
  }

  async close(): Promise<void> {
    await this.#recording.close();
    closeSync(this.#folder);
  }
}
