// Asks the person at the terminal of standard input for a value that is not to be seen. The terminal
// shows nothing from before the question to after the answer, and is put back whatever happens: at the
// process's exit, when it is ended by a signal, and by a guard when it is killed outright.

import { constants, openSync, read } from "node:fs";
import { fail } from "../abi/mod.ts";
import {
  foregroundGroup,
  ownGroup,
  setTerminalModes,
  type TerminalModes,
  terminalModes,
  typingModes,
} from "../os/mod.ts";
import { HiddenLine } from "./hidden-line.ts";
import { Output } from "./person-terminal.ts";
import { startGuard } from "./terminal-guard.ts";

/** Bytes of one read; the kernel's own queue of a terminal holds no more. */
const chunkBytes = 4096;

/** Pause between two looks at a terminal that somebody made non-blocking, in milliseconds. */
const emptyPauseMs = 5;

const marksOn = "\x1b[?2004h";
const marksOff = "\x1b[?2004l";

const endingSignals = ["SIGTERM", "SIGHUP", "SIGQUIT"] as const;

export interface HiddenQuestion {
  /** Escaped text, printed at the terminal itself. */
  readonly prompt: string;
  readonly bytesMax: number;
  /** Ends the question as Ctrl-C does. */
  readonly signal: AbortSignal;
  /** Whether the terminal may be asked to mark pastes. */
  readonly marksPastes: boolean;
}

export type HiddenAnswer =
  | { readonly kind: "value"; readonly bytes: Uint8Array }
  | { readonly kind: "too_long" }
  /** Ctrl-C, an aborted signal, or a terminal that went away. */
  | { readonly kind: "cancelled" };

/** Standard input is a terminal. Throws EINVAL in the background of it. */
export async function askHidden(question: HiddenQuestion): Promise<HiddenAnswer> {
  comeToForeground();
  const hiding = await Hiding.begin(question);
  try {
    return await answerTo(question);
  } finally {
    hiding.end();
  }
}

/** Modes of a terminal are its foreground's to change: in the background this stops until it is there. */
function comeToForeground(): void {
  if (isForeground()) return;
  process.kill(0, "SIGTTIN");
  if (!isForeground()) fail("EINVAL", "the terminal cannot be asked from its background");
}

function isForeground(): boolean {
  try {
    return foregroundGroup(0) === ownGroup();
  } catch {
    // A terminal that is not this process's own has no foreground for it.
    return true;
  }
}

/** The time in which the terminal shows nothing. */
class Hiding {
  readonly #before: TerminalModes;
  readonly #output: Output;
  readonly #marks: boolean;
  readonly #guard: ReturnType<typeof startGuard>;
  #isOver = false;
  readonly #onExit = () => this.end();
  /** A shell that stopped this and goes on with it may have set modes of its own. */
  readonly #onContinue = () => this.#hide("now");
  /** Ends as it would have without this, when nobody listens any more. */
  readonly #onSignal = (signal: NodeJS.Signals) => {
    this.end();
    process.kill(process.pid, signal);
  };

  static async begin({ prompt, marksPastes }: HiddenQuestion): Promise<Hiding> {
    const hiding = new Hiding(marksPastes);
    await hiding.#guard?.ready;
    // Nothing that was typed before the question is an answer to it, and it was seen.
    hiding.#hide("flushed");
    hiding.#write(prompt + (marksPastes ? marksOn : ""));
    return hiding;
  }

  private constructor(marks: boolean) {
    this.#marks = marks;
    this.#before = terminalModes(0);
    const terminal = openTerminal();
    this.#output = new Output(terminal);
    this.#guard = startGuard(terminal, marks ? marksOff : "");
    process.on("exit", this.#onExit);
    process.on("SIGCONT", this.#onContinue);
    for (const signal of endingSignals) process.on(signal, this.#onSignal);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#write(`${this.#marks ? marksOff : ""}\n`);
    // The rest of a paste that was not read is for nobody: a shell would run it.
    this.#set(this.#before, "flushed");
    process.removeListener("exit", this.#onExit);
    process.removeListener("SIGCONT", this.#onContinue);
    for (const signal of endingSignals) process.removeListener(signal, this.#onSignal);
    this.#guard?.dismiss();
  }

  #hide(when: "now" | "flushed"): void {
    this.#set(typingModes(this.#before), when);
  }

  #set(modes: TerminalModes, when: "now" | "flushed"): void {
    try {
      setTerminalModes(0, modes, when);
    } catch (error) {
      // A terminal that was hung up has no modes; reading it says so.
      if ((error as { code?: string }).code !== "EIO") throw error;
    }
  }

  #write(text: string): void {
    try {
      this.#output.writeNow(new TextEncoder().encode(text));
    } catch {
      // Nobody can read it, and nothing depends on it.
    }
  }
}

/** The terminal that is typed at, wherever output and errors go. */
function openTerminal(): number {
  try {
    return openSync("/proc/self/fd/0", constants.O_RDWR | constants.O_NOCTTY);
  } catch {
    // Somebody else's terminal, as after su: then standard error is it, most often.
    return 2;
  }
}

async function answerTo({ bytesMax, signal }: HiddenQuestion): Promise<HiddenAnswer> {
  const line = new HiddenLine(bytesMax);
  const over = Promise.withResolvers<undefined>();
  const stop = () => over.resolve(undefined);
  signal.addEventListener("abort", stop);
  try {
    for (;;) {
      const chunk = signal.aborted ? undefined : await Promise.race([readKeys(), over.promise]);
      if (chunk === undefined) return { kind: "cancelled" };
      const state = line.push(chunk);
      chunk.fill(0);
      if (state === "cancelled") return { kind: "cancelled" };
      if (state === "typing") continue;
      const bytes = line.value;
      return bytes === undefined ? { kind: "too_long" } : { kind: "value", bytes };
    }
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** What was typed; undefined when the terminal is gone. Signals are heard meanwhile. */
async function readKeys(): Promise<Uint8Array | undefined> {
  const buffer = new Uint8Array(chunkBytes);
  for (;;) {
    const count = await new Promise<number | string>((resolve) =>
      read(0, buffer, 0, buffer.length, null, (error, length) =>
        resolve(error ? (error.code ?? "EIO") : length),
      ),
    );
    if (typeof count === "number") return count === 0 ? undefined : buffer.subarray(0, count);
    if (count === "EAGAIN") await Bun.sleep(emptyPauseMs);
    else if (count !== "EINTR") return undefined;
  }
}
