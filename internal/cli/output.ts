// Writing to the standard streams, synchronously: what was printed is out before the program ends,
// and a reader that went away is noticed at once. `process.stdout` is avoided because touching it
// loads the stream and terminal modules, which doubles the start-up time of a small command.

import { fstatSync, writeSync } from "node:fs";
import { coded, fail } from "../abi/mod.ts";
import { escapeText, safeJson } from "./escape.ts";

/** Pause between two tries on a full non-blocking pipe, in milliseconds; the reader sets the pace. */
const fullPipePauseMs = 2;

/** Thrown when the reader of standard output is gone; `runMain` ends the program quietly. */
export class ReaderGone extends Error {
  override readonly name = "ReaderGone";
}

/** By name: a program is compiled in pieces, and each piece has a class of its own. */
export function isReaderGone(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "ReaderGone";
}

const encoder = new TextEncoder();
const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/** Writes bytes as they are. `fd` 1 or 2. A vanished reader of standard error is ignored. */
export function writeBytes(fd: number, bytes: Uint8Array): void {
  let offset = 0;
  while (offset < bytes.length) {
    try {
      offset += writeSync(fd, bytes, offset);
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code === "EAGAIN") {
        Atomics.wait(pauseCell, 0, 0, fullPipePauseMs);
      } else if (fd === 2) {
        return;
      } else if (code === "EPIPE") {
        throw new ReaderGone();
      } else {
        const { code: folded, message } = coded(error);
        const reason = message.replace(/, write$/, "");
        fail(folded, `cannot write to standard output: ${reason}`, { cause: error });
      }
    }
  }
}

/** Prints text that this program wrote, or that is escaped already, without adding a newline. */
export function printRaw(text: string): void {
  writeBytes(1, encoder.encode(text));
}

/** Prints text from anywhere, escaped, with a newline. */
export function print(text: string): void {
  printRaw(`${escapeText(text)}\n`);
}

/** Prints one value as one line of JSON. */
export function printJson(value: unknown): void {
  printRaw(`${safeJson(value)}\n`);
}

/** A line for the person on standard error, escaped. */
export function note(text: string): void {
  writeBytes(2, encoder.encode(`${escapeText(text)}\n`));
}

/** The same without a newline, for text that arrives in pieces. */
export function notePart(text: string): void {
  writeBytes(2, encoder.encode(escapeText(text)));
}

// Majors of the kernel's terminals: 4 console and serial, 5 tty and console, 136 to 143 Unix98
// pseudo-terminals, 204 low-density serial (Documentation/admin-guide/devices.txt).
function isTerminalMajor(major: number): boolean {
  return major === 4 || major === 5 || (major >= 136 && major <= 143) || major === 204;
}

/** Whether a descriptor is a terminal. Looks at the device number because node:tty costs 8 ms. */
export function isTerminal(fd: number): boolean {
  try {
    const facts = fstatSync(fd);
    return facts.isCharacterDevice() && isTerminalMajor((facts.rdev >> 8) & 0xfff);
  } catch {
    return false;
  }
}

/** Whether to colour what goes to `fd`: a terminal, and the person did not say NO_COLOR. */
export function wantsColour(fd: number, env: Record<string, string | undefined>): boolean {
  return isTerminal(fd) && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

export type Style = "bold" | "dim" | "red" | "green" | "yellow";

const styles: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** Wraps escaped text in a colour; the identity when `on` is false. */
export function styled(on: boolean, style: Style, text: string): string {
  return on ? `\x1b[${styles[style]}m${text}\x1b[0m` : text;
}
