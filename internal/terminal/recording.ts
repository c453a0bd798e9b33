// The log of a terminal: numbered records, one line each, in segments of a bounded size. One older
// segment is kept; what was in the one that goes is told as a gap at the start of the new one. A log
// that was cut in its middle is continued behind its last whole line. Nothing here fails the
// terminal: what cannot be written is counted, and told as a gap as soon as it can be.

import { closeSync, fstatSync, ftruncateSync, renameSync } from "node:fs";
import { fail } from "../abi/mod.ts";
import { openBeneath, throughFolder, writeAll } from "../os/mod.ts";
import { encodeRecord, type TerminalDraft } from "../terminal-wire/mod.ts";
import { recordingBytesMax } from "./limits.ts";
import { lastRecord, outputBytesOf } from "./segment.ts";

export interface RecordingOptions {
  /** Descriptor of the folder; the caller keeps it open and closes it. */
  readonly folder: number;
  /** The older segment has `.1` behind it. */
  readonly name: string;
  readonly bytesMax?: number;
}

export interface Recording {
  push(draft: TerminalDraft): void;
  close(): Promise<void>;
}

/** Throws when the log cannot be opened; afterwards nothing throws. */
export function openRecording(options: RecordingOptions): Recording {
  return new SegmentedLog(options);
}

class SegmentedLog implements Recording {
  readonly #folder: number;
  readonly #name: string;
  readonly #bytesMax: number;
  #fd: number;
  #bytes: number;
  #seq: number;
  /** Output that could not be written, or went with a segment, and is not told yet. */
  #missing = 0;
  /** Bytes of output in this segment and in the older one; undefined until they are counted. */
  #own: number | undefined;
  #before: number | undefined;
  #reason = "";
  #size: { cols: number; rows: number } | undefined;

  constructor(options: RecordingOptions) {
    this.#folder = options.folder;
    this.#name = options.name;
    this.#bytesMax = options.bytesMax ?? recordingBytesMax;
    this.#fd = openLog(this.#folder, this.#name);
    const { bytes, seq } = lastRecord(this.#fd);
    ftruncateSync(this.#fd, bytes);
    this.#bytes = bytes;
    this.#seq =
      seq > 0 ? seq : withSegment(this.#folder, this.#older, 0, (fd) => lastRecord(fd).seq);
    if (seq === 0) this.#own = 0;
  }

  push(draft: TerminalDraft): void {
    if (draft.type === "pty.resize") this.#size = { cols: draft.cols, rows: draft.rows };
    try {
      this.#tellMissing(draft.at);
      this.#append(draft);
    } catch {
      if (draft.type === "pty.output") this.#lost(draft.data.length, "unwritten");
    }
  }

  close(): Promise<void> {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
    return Promise.resolve();
  }

  #append(draft: TerminalDraft): void {
    const line = new TextEncoder().encode(encodeRecord(draft, this.#seq + 1));
    if (this.#bytes > 0 && this.#bytes + line.length > this.#bytesMax) {
      this.#rotate(draft.at);
      // The segment's first records took numbers.
      this.#write(encodeRecord(draft, this.#seq + 1));
    } else {
      this.#writeBytes(line);
    }
    if (draft.type === "pty.output" && this.#own !== undefined) this.#own += draft.data.length;
  }

  get #older(): string {
    return `${this.#name}.1`;
  }

  #path(name: string): string {
    return throughFolder(this.#folder, name);
  }

  #rotate(at: number): void {
    const gone = this.#before ?? withSegment(this.#folder, this.#older, 0, outputBytesOf);
    // Opened before anything is moved: where that fails, the next output tries all of it again.
    const next = `${this.#name}.next`;
    const fresh = openBeneath(this.#folder, next, "append");
    try {
      ftruncateSync(fresh, 0);
      renameSync(this.#path(this.#name), this.#path(this.#older));
      renameSync(this.#path(next), this.#path(this.#name));
    } catch (error) {
      closeSync(fresh);
      throw error;
    }
    this.#before = this.#own;
    this.#own = 0;
    closeSync(this.#fd);
    this.#fd = fresh;
    this.#bytes = 0;
    // Whoever reads this segment alone must know the size; whoever reads both loses nothing by it.
    if (gone > 0) this.#lost(gone, "rotated");
    this.#tellMissing(at);
    if (this.#size !== undefined) {
      this.#write(encodeRecord({ type: "pty.resize", at, ...this.#size }, this.#seq + 1));
    }
  }

  #lost(bytes: number, reason: string): void {
    if (this.#missing === 0) this.#reason = reason;
    this.#missing += bytes;
  }

  #tellMissing(at: number): void {
    // A full segment that cannot be rotated takes nothing more; the next one tells.
    if (this.#missing === 0 || this.#bytes >= this.#bytesMax) return;
    const gap: TerminalDraft = { type: "gap", at, bytes: this.#missing, reason: this.#reason };
    this.#write(encodeRecord(gap, this.#seq + 1));
    this.#missing = 0;
  }

  #write(line: string): void {
    this.#writeBytes(new TextEncoder().encode(line));
  }

  /** A line is there whole or not at all, whatever the disk does. */
  #writeBytes(line: Uint8Array): void {
    try {
      writeAll(this.#fd, line);
    } catch (error) {
      ftruncateSync(this.#fd, this.#bytes);
      throw error;
    }
    this.#bytes += line.length;
    this.#seq++;
  }
}

function withSegment<T>(folder: number, name: string, absent: T, use: (fd: number) => T): T {
  let fd: number;
  try {
    fd = openBeneath(folder, name, "read");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return absent;
    throw error;
  }
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/** Whatever else has the name is nothing to be cut or continued. */
function openLog(folder: number, name: string): number {
  const fd = openBeneath(folder, name, "append");
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return fail("EEXIST", "it is no regular file", { hint: "move it away" });
}
