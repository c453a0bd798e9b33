// Cuts a terminal's output into the commands that ran in it, at the marks that a shell sets around
// its prompt (OSC 133: A prompt, B input, C output, D end with status). What is not inside of a
// command is passed over. A shell that names its line in the mark (kitty's `cmdline_url`) is believed;
// otherwise the input is what was echoed there.

import { outputBytes, type TerminalRecord } from "./records.ts";

/** Output that is kept of one command. Past it the middle goes; the first and last halves stay. */
export const commandOutputBytesMax = 8 * 1024 * 1024;

/** Bytes of one mark. What has no end within it is taken for output. */
const markBytesMax = 8 * 1024;

export interface CommandOutput {
  readonly input: string;
  readonly output: Uint8Array;
  /** Bytes of the output that are not in it. */
  readonly dropped: number;
  /** Undefined while it runs, or when its end was not recorded. */
  readonly status: number | undefined;
  readonly began: string;
  readonly ended: string | undefined;
}

const opening = [0x1b, 0x5d, 0x31, 0x33, 0x33, 0x3b];
const text = new TextDecoder();

/** The last `last` commands, the oldest first. */
export function commandsOf(
  records: Iterable<TerminalRecord>,
  options: { readonly last?: number } = {},
): CommandOutput[] {
  const cutter = new CommandCutter(options.last ?? Number.POSITIVE_INFINITY);
  for (const record of records) {
    if (record.type === "pty.output") cutter.push(outputBytes(record), record.ts);
    else if (record.type === "gap") cutter.gap(record.bytes);
  }
  return cutter.end();
}

interface Running {
  input: string;
  began: string;
  head: Uint8Array[];
  headBytes: number;
  tail: Uint8Array[];
  tailBytes: number;
  dropped: number;
}

class CommandCutter {
  readonly #last: number;
  #done: CommandOutput[] = [];
  #carried = new Uint8Array(0);
  #section: "outside" | "input" | "output" = "outside";
  #input: Uint8Array[] = [];
  #running: Running | undefined;
  #ts = "";

  constructor(last: number) {
    this.#last = last;
  }

  push(chunk: Uint8Array, ts: string): void {
    this.#ts = ts;
    let bytes = chunk;
    if (this.#carried.length > 0) {
      bytes = new Uint8Array(this.#carried.length + chunk.length);
      bytes.set(this.#carried);
      bytes.set(chunk, this.#carried.length);
    }
    let from = 0;
    let search = 0;
    for (;;) {
      const at = findOpening(bytes, search);
      if (at === undefined) break;
      const mark = readMark(bytes, at);
      if (mark === "more") {
        this.#text(bytes.subarray(from, at));
        this.#carried = bytes.slice(at);
        return;
      }
      if (mark === undefined) {
        search = at + 1;
        continue;
      }
      this.#text(bytes.subarray(from, at));
      this.#mark(mark.letter, mark.fields);
      from = mark.end;
      search = from;
    }
    this.#text(bytes.subarray(from));
    this.#carried = new Uint8Array(0);
  }

  gap(bytes: number): void {
    this.#flushCarried();
    if (this.#running !== undefined) this.#running.dropped += bytes;
  }

  end(): CommandOutput[] {
    this.#flushCarried();
    this.#finish(undefined);
    return this.#done;
  }

  #flushCarried(): void {
    this.#text(this.#carried);
    this.#carried = new Uint8Array(0);
  }

  #text(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const running = this.#running;
    if (this.#section === "input") this.#input.push(bytes.slice(0, markBytesMax));
    if (this.#section !== "output" || running === undefined) return;
    const half = commandOutputBytesMax / 2;
    const head = bytes.subarray(0, half - running.headBytes);
    if (head.length > 0) running.head.push(head.slice());
    running.headBytes += head.length;
    const tail = bytes.slice(head.length);
    if (tail.length > 0) running.tail.push(tail);
    running.tailBytes += tail.length;
    while (running.tailBytes - (running.tail[0]?.length ?? 0) >= half) {
      const gone = running.tail.shift()?.length ?? 0;
      running.tailBytes -= gone;
      running.dropped += gone;
    }
  }

  #mark(letter: string, fields: readonly string[]): void {
    if (letter === "A") {
      this.#finish(undefined);
      this.#section = "outside";
    } else if (letter === "B") {
      this.#section = "input";
      this.#input = [];
    } else if (letter === "C") {
      this.#finish(undefined);
      this.#section = "output";
      const input = namedLine(fields) ?? text.decode(join(this.#input)).trim();
      const empty = { head: [], headBytes: 0, tail: [], tailBytes: 0, dropped: 0 };
      this.#running = { input, began: this.#ts, ...empty };
      this.#input = [];
    } else if (letter === "D") {
      const status = /^\d{1,3}$/.test(fields[0] ?? "") ? Number(fields[0]) : undefined;
      this.#finish(status);
      this.#section = "outside";
    }
  }

  #finish(status: number | undefined): void {
    const running = this.#running;
    if (running === undefined) return;
    this.#running = undefined;
    const { input, began, dropped } = running;
    const output = join([...running.head, ...running.tail]);
    const ended = status === undefined ? undefined : this.#ts;
    this.#done.push({ input, output, dropped, status, began, ended });
    if (this.#done.length > this.#last) this.#done.shift();
  }
}

/** Where a mark begins, or the part of one at the very end. */
function findOpening(bytes: Uint8Array, from: number): number | undefined {
  for (let at = bytes.indexOf(0x1b, from); at >= 0; at = bytes.indexOf(0x1b, at + 1)) {
    if (opening.every((byte, index) => (bytes[at + index] ?? byte) === byte)) return at;
  }
  return undefined;
}

function readMark(
  bytes: Uint8Array,
  at: number,
): { letter: string; fields: string[]; end: number } | "more" | undefined {
  const start = at + opening.length;
  const stop = Math.min(bytes.length, start + markBytesMax);
  for (let index = start; index < stop; index++) {
    const bell = bytes[index] === 0x07;
    if (bytes[index] === 0x1b && index + 1 === bytes.length) return "more";
    if (!bell && !(bytes[index] === 0x1b && bytes[index + 1] === 0x5c)) {
      if (bytes[index] === 0x1b) return undefined;
      continue;
    }
    const [letter = "", ...fields] = text.decode(bytes.subarray(start, index)).split(";");
    return { letter, fields, end: index + (bell ? 1 : 2) };
  }
  return stop === bytes.length ? "more" : undefined;
}

function namedLine(fields: readonly string[]): string | undefined {
  const name = "cmdline_url=";
  const field = fields.find((one) => one.startsWith(name));
  if (field === undefined) return undefined;
  try {
    return decodeURIComponent(field.slice(name.length));
  } catch {
    return undefined;
  }
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
