// The terminal that an interactive tsh works in: its modes while a line is edited, while something runs
// and for the programs that are run; who is in its foreground; its keys, one byte at a time, so that
// what was typed ahead is there for the program that it was meant for.

import { constants, openSync, readSync } from "node:fs";
import { writeBytes } from "../../internal/cli/mod.ts";
import {
  foregroundGroup,
  ignoreSignals,
  ownGroup,
  setForegroundGroup,
  setTerminalModes,
  signalInput,
  type TerminalModes,
  type TerminalSize,
  terminalModes,
  terminalSize,
  typingModes,
} from "../../internal/os/mod.ts";

/** Attributes off, the usual characters, the cursor to be seen: what a program may leave behind. */
const soberScreen = "\x1b[0m\x1b(B\x0f\x1b[?25h";

/** And what one leaves that was killed: the other screen, keys and mouse of its own, no line ends. */
const rescuedScreen = "\x1b[?47l\x1b[?1l\x1b>\x1b[?7h\x1b[?1000;1002;1003;1006;1004;2004l";

export class Terminal {
  readonly group: number;
  readonly #start: TerminalModes;
  readonly #keys: number;

  /** Waits in the background until it is this shell's turn. Throws SystemError without a terminal. */
  constructor() {
    this.group = ownGroup();
    while (foregroundGroup(0) !== this.group) process.kill(0, "SIGTTIN");
    ignoreSignals(["SIGTTOU", "SIGTTIN", "SIGTSTP", "SIGQUIT"]);
    this.#start = terminalModes(0);
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
    // Opened anew: that it does not block is nothing that a program's own input should have.
    this.#keys = openSync("/proc/self/fd/0", flags);
    signalInput(this.#keys);
  }

  get size(): TerminalSize {
    const { cols, rows } = terminalSize(0);
    return { cols: cols || 80, rows: rows || 24 };
  }

  get modes(): TerminalModes {
    return terminalModes(0);
  }

  /** For a line that is edited: nothing signals. */
  typing(): void {
    this.#set(typingModes(this.#start));
  }

  /** While something is waited for: keys wait too, Ctrl-C is a signal. */
  waiting(): void {
    this.#set(typingModes(this.#start, true));
  }

  /** For programs: as it was when the shell began. */
  plain(modes: TerminalModes = this.#start): void {
    this.#set(modes);
  }

  #set(modes: TerminalModes): void {
    try {
      setTerminalModes(0, modes, "drained");
    } catch (error) {
      // A terminal that was hung up has no modes; reading it says so.
      if ((error as { code?: string }).code !== "EIO") throw error;
    }
  }

  giveTo(group: number): void {
    setForegroundGroup(0, group);
  }

  /** Takes the foreground back from a program. One that was killed may have left anything behind. */
  takeBack(killed: boolean): void {
    try {
      setForegroundGroup(0, this.group);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== "EIO" && code !== "ENOTTY") throw error;
    }
    this.write((killed ? rescuedScreen : "") + soberScreen);
  }

  write(text: string): void {
    this.writeBytes(new TextEncoder().encode(text));
  }

  writeBytes(bytes: Uint8Array): void {
    writeBytes(1, bytes);
  }

  /** Goes to an empty row: where a program stopped within one, a mark says so. */
  freshRow(): void {
    const { cols } = this.size;
    this.write(`\x1b[2m~\x1b[0m${" ".repeat(cols - 1)}\r\x1b[K`);
  }

  /** One byte that was typed; "none" when none is there, "end" when none will ever be. */
  readKey(): number | "none" | "end" {
    const one = new Uint8Array(1);
    try {
      return readSync(this.#keys, one) === 0 ? "end" : (one[0] as number);
    } catch (error) {
      const { code } = error as { code?: string };
      return code === "EAGAIN" || code === "EINTR" ? "none" : "end";
    }
  }
}
