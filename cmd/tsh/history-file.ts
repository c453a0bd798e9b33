// The lines of earlier times in the agent's home, for its eyes alone. A history that cannot be read or
// written is no reason not to work.

import { closeSync } from "node:fs";
import { openPath, readBeneath, replaceFile } from "../../internal/os/mod.ts";
import {
  decodeHistory,
  encodeHistory,
  historyBytesMax,
  remembered,
} from "../../internal/shell-line/mod.ts";

const fileName = ".tsh_history";

export class History {
  readonly #home: string | undefined;
  #lines: readonly string[];

  constructor(home: string | undefined) {
    this.#home = home || undefined;
    this.#lines = this.#inHome(readLines) ?? [];
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Keeps the line, with those that another shell has written meanwhile. */
  add(text: string): void {
    const before = this.#lines;
    this.#lines = remembered(before, text);
    if (this.#lines === before) return;
    this.#inHome((folder) => {
      const kept = encodeHistory(remembered(readLines(folder), text));
      replaceFile(folder, fileName, kept, { mode: 0o600, durable: false });
    });
  }

  #inHome<T>(use: (folder: number) => T): T | undefined {
    if (this.#home === undefined) return undefined;
    try {
      const folder = openPath(this.#home, "folder");
      try {
        return use(folder);
      } finally {
        closeSync(folder);
      }
    } catch {
      // Read-only, full, gone, or no file of ours.
      return undefined;
    }
  }
}

function readLines(folder: number): string[] {
  try {
    return decodeHistory(
      new TextDecoder().decode(readBeneath(folder, fileName, 2 * historyBytesMax)),
    );
  } catch {
    return [];
  }
}
