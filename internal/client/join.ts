// Shows a terminal to a person until one of both leaves: frames to the output in its reader's pace,
// keys to the other side in its pace, sizes when they change. A watcher sends nothing.

import { type Code, CodedError } from "../abi/mod.ts";
import { terminalSizeMax } from "../terminal-wire/mod.ts";
import { type DetachKeys, DetachWatch, detachWaitMs } from "./detach-key.ts";
import type { Output, PersonTerminal } from "./person-terminal.ts";
import type { JoinMode, TerminalConnection } from "./terminal-connection.ts";

/** Bytes of one frame of input. */
const inputFrameBytesMax = 32 * 1024;

export type JoinEnd =
  /** The person left by key. */
  | { readonly how: "detached" }
  /** The person pressed Ctrl-C at a terminal that is only watched. */
  | { readonly how: "interrupted" }
  /** The program in the terminal has ended; status as of a shell, 128 + n for a signal. */
  | { readonly how: "exited"; readonly status: number; readonly signal: number }
  /** The terminal said why it let go of this client. */
  | { readonly how: "dropped"; readonly code: Code; readonly message: string }
  /** The connection broke with nothing said. */
  | { readonly how: "lost" }
  /** The process was stopped and goes on: what the person's terminal shows is of another program. */
  | { readonly how: "stopped" };

export interface JoinOptions {
  readonly mode: JoinMode;
  readonly connection: TerminalConnection;
  readonly output: Output;
  /** Undefined when nobody is in front, as in a pipe. */
  readonly person: PersonTerminal | undefined;
  readonly detachKeys: DetachKeys;
}

/** Resolves when it is over. Rejects with the system's error when the output's reader is gone. */
export class Join {
  readonly #options: JoinOptions;
  readonly #watch: DetachWatch;
  readonly #end = Promise.withResolvers<JoinEnd>();
  #isOver = false;
  #written: Promise<void> = Promise.resolve();
  #heldTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: JoinOptions) {
    this.#options = options;
    this.#watch = new DetachWatch(options.detachKeys);
  }

  /** What was given to the output last. */
  get written(): Promise<void> {
    return this.#written;
  }

  run(): Promise<JoinEnd> {
    this.resized();
    this.#show().catch(this.#end.reject);
    return this.#end.promise.finally(() => {
      this.#isOver = true;
      clearTimeout(this.#heldTimer);
      this.#options.connection.close();
    });
  }

  end(end: JoinEnd): void {
    this.#end.resolve(end);
  }

  /** Tells the other side how large the person's terminal is; a watcher's size decides nothing. */
  resized(): void {
    const { mode, person, connection } = this.#options;
    if (mode !== "attach" || person === undefined) return;
    const { cols, rows } = person.size;
    const within = (size: number) => Math.min(size, terminalSizeMax);
    void connection.send({ type: "resize", cols: within(cols), rows: within(rows) });
  }

  /** One piece of what was typed; resolves when more may come. */
  async typed(chunk: Uint8Array): Promise<void> {
    if (this.#isOver) return;
    clearTimeout(this.#heldTimer);
    const { bytes, leave } = this.#watch.push(chunk);
    const { mode } = this.#options;
    if (mode === "attach") await this.#send(bytes);
    else if (bytes.includes(0x03)) this.end({ how: "interrupted" });
    if (leave) this.end({ how: "detached" });
    if (!this.#watch.holding) return;
    this.#heldTimer = setTimeout(() => {
      const held = this.#watch.release();
      if (mode === "attach") void this.#send(held);
    }, detachWaitMs);
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += inputFrameBytesMax) {
      const data = bytes.subarray(at, at + inputFrameBytesMax);
      await this.#options.connection.send({ type: "data", data });
    }
  }

  async #show(): Promise<void> {
    const { connection, output, person } = this.#options;
    for (;;) {
      const frame = await connection.next();
      if (frame === undefined) return this.end({ how: "lost" });
      if (frame.type === "data" || frame.type === "snapshot") {
        person?.shows(frame.data);
        this.#written = output.write(frame.data);
        await this.#written;
      } else if (frame.type === "exit") {
        return this.end({ how: "exited", status: frame.status, signal: frame.signal });
      } else if (frame.type === "error") {
        return this.end({ how: "dropped", code: frame.code, message: frame.message });
      }
    }
  }
}

/** What a person is to be told of an end that was not theirs. */
export function endError(end: JoinEnd, what: string, hint: string): CodedError | undefined {
  if (end.how === "dropped") {
    const message = `the terminal of ${what} let go of this client: ${end.message}`;
    return new CodedError(end.code, message, { hint });
  }
  if (end.how !== "lost") return undefined;
  return new CodedError("EHOSTDOWN", `the terminal of ${what} went away with nothing said`, {
    hint,
  });
}
