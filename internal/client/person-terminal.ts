// The terminal of the person in front of it, while it shows another one: its modes, its size, its keys,
// and how all of that is put back. Put back whatever happens: by `leave`, at the process's exit, and
// when the process is killed outright by a small guard, a shell that waits for this process to be gone.

import { constants, fstatSync, openSync, writeSync } from "node:fs";
import {
  discardInput,
  rawModes,
  setTerminalModes,
  type TerminalModes,
  type TerminalSize,
  terminalModes,
  terminalSize,
} from "../os/mod.ts";
import { ColourWatch, coloursBack, entering, leaving } from "./screen-reset.ts";
import { startGuard, type TerminalGuard } from "./terminal-guard.ts";

/** Time that output which the terminal has not taken yet gets when the person leaves, in milliseconds. */
const lastOutputMs = 500;

/** Writes to a descriptor in its reader's pace, with the program going on meanwhile. */
export class Output {
  readonly fd: number;
  #own: number | undefined;
  #sink: Bun.FileSink | undefined;

  /** Opens what `fd` is anew where that is possible: then waiting for its reader blocks nobody. */
  constructor(fd: number) {
    this.fd = fd;
    const facts = fstatSync(fd);
    if (!facts.isCharacterDevice() && !facts.isFIFO()) return;
    try {
      const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
      this.#own = openSync(`/proc/self/fd/${fd}`, flags);
      this.#sink = Bun.file(this.#own).writer({ highWaterMark: 1 });
    } catch {
      // Somebody else's terminal, as after su: then it is written to as it is.
    }
  }

  /** Resolves when everything is out. Rejects with the system's error when the reader is gone. */
  async write(bytes: Uint8Array): Promise<void> {
    if (this.#sink === undefined) {
      this.writeNow(bytes);
      return;
    }
    await this.#sink.write(bytes);
    await this.#sink.flush();
  }

  /** At once; what a full terminal does not take is lost when it was opened anew. */
  writeNow(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      try {
        at += writeSync(this.#own ?? this.fd, bytes, at);
      } catch (error) {
        if ((error as { code?: string }).code !== "EAGAIN" || this.#own !== undefined) throw error;
      }
    }
  }
}

export interface PersonOptions {
  /** What shows, a terminal. */
  readonly output: Output;
  /** Whether standard input is it too, so that its keys are read. Else Ctrl-C stays a signal. */
  readonly typing: boolean;
}

export class PersonTerminal {
  readonly #options: PersonOptions;
  readonly #output: Output;
  readonly #input: number;
  readonly #before: TerminalModes;
  readonly #guard: TerminalGuard | undefined;
  readonly #colours = new ColourWatch();
  #areColoursChanged = false;
  #inside = false;
  readonly #onExit = () => this.close();

  constructor(options: PersonOptions) {
    this.#options = options;
    this.#output = options.output;
    this.#input = options.typing ? 0 : options.output.fd;
    this.#before = terminalModes(this.#input);
    this.#guard = startGuard(this.#output.fd, leaving, coloursBack);
    process.on("exit", this.#onExit);
  }

  get size(): TerminalSize {
    const { cols, rows } = terminalSize(this.#output.fd);
    // A terminal that nobody gave a size is as large as terminals were.
    return { cols: cols || 80, rows: rows || 24 };
  }

  /** Every key comes as it is typed from here on, and nothing of it is shown by the kernel. */
  async enter(): Promise<void> {
    await this.#guard?.ready;
    if (!this.#inside) writeQuietly(this.#output, entering(this.size.rows));
    this.#inside = true;
    setTerminalModes(this.#input, rawModes(this.#before, !this.#options.typing));
  }

  /** What is about to be shown. */
  shows(bytes: Uint8Array): void {
    if (this.#areColoursChanged || !this.#colours.push(bytes)) return;
    this.#areColoursChanged = true;
    this.#guard?.writeMore();
  }

  /** Puts the terminal back, after what the output still has to show had a moment. */
  async leave(pending: Promise<unknown>): Promise<void> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, lastOutputMs);
    await Promise.race([pending.catch(() => {}), late.promise]);
    clearTimeout(timer);
    this.restore();
  }

  /** Puts the terminal back at once. */
  restore(): void {
    if (!this.#inside) return;
    this.#inside = false;
    writeQuietly(this.#output, this.#areColoursChanged ? leaving + coloursBack : leaving);
    try {
      // What the terminal answered to questions of the other side is for nobody now.
      discardInput(this.#input);
      setTerminalModes(this.#input, this.#before);
    } catch {
      // The terminal is gone, and its modes with it.
    }
  }

  /** The same for good: the guard goes too. */
  close(): void {
    this.restore();
    process.removeListener("exit", this.#onExit);
    this.#guard?.dismiss();
  }
}

function writeQuietly(output: Output, text: string): void {
  try {
    output.writeNow(new TextEncoder().encode(text));
  } catch {
    // The terminal is gone or full; nothing depends on this.
  }
}
