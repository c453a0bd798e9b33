// One connection of a talk: bytes out as they are, lines in by pull. It trusts whoever listens at
// the path, because a conformance run examines a server that the caller chose.

import { closeSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { basename, dirname } from "node:path";
import { fail } from "../abi/mod.ts";
import { LineDecoder, type LineResult } from "../frame/mod.ts";
import { openPath, throughFolder } from "../os/mod.ts";

/** Bytes of one received line with its LF; more than any protocol allows. Past it the talk fails. */
const receivedLineBytesMax = 8 * 1024 * 1024;

/** Lines received and not yet looked at, and their characters. Past either nothing more is read. */
const waitingLinesMax = 1024;
const waitingCharsMax = 2 * receivedLineBytesMax;

export type Received = LineResult | "end" | "late";

export class TalkConnection {
  readonly #socket: Socket;
  readonly #decoder = new LineDecoder(receivedLineBytesMax);
  readonly #waiting: (LineResult | "end")[] = [];
  #waitingChars = 0;
  #unsent = 0;
  #wake: (() => void) | undefined;

  /** Throws EHOSTDOWN with a hint when nobody listens, EACCES when the caller may not. */
  static async open(path: string): Promise<TalkConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const folder = openFolder(path);
    try {
      const socket = connect({
        path: throughFolder(folder, basename(path)),
        allowHalfOpen: true,
      });
      socket.once("error", reject).once("connect", () => resolve(socket));
      return new TalkConnection(await promise);
    } catch (error) {
      return unreachable(path, (error as { code?: unknown }).code);
    } finally {
      closeSync(folder);
    }
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    // A server may close while it is written to; what it said is what counts.
    socket.on("error", () => this.#finish());
    socket.on("data", (chunk: Buffer) => this.#take(this.#decoder.push(chunk)));
    socket.on("end", () => this.#finish());
    socket.on("close", () => this.#finish());
  }

  send(bytes: string | Uint8Array): void {
    this.#unsent += 1;
    this.#socket.write(bytes, () => {
      this.#unsent -= 1;
      this.#poke();
    });
  }

  /** Ends the writing half after everything that was sent. */
  finishWriting(): void {
    this.#socket.end();
  }

  /** Waits until the kernel has what was sent, then closes both halves. */
  async close(deadline: number): Promise<void> {
    while (this.#unsent > 0 && !this.#socket.destroyed) {
      if (!(await this.#pause(deadline))) break;
    }
    this.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /**
   * The next line without taking it; "end" when the server has closed, "late" past the deadline, also
   * when there is a line: a server that never stops talking is as late as one that says nothing.
   */
  async peek(deadline: number): Promise<Received> {
    for (;;) {
      if (performance.now() >= deadline) return "late";
      const [first] = this.#waiting;
      if (first !== undefined) return first;
      await this.#pause(deadline);
    }
  }

  /** Takes what `peek` gave. The end stays. */
  drop(): void {
    const [first] = this.#waiting;
    if (first === undefined || first === "end") return;
    this.#waiting.shift();
    this.#waitingChars -= charsOf(first);
    if (!this.#isFull()) this.#socket.resume();
  }

  #take(results: readonly LineResult[]): void {
    this.#waiting.push(...results);
    for (const result of results) this.#waitingChars += charsOf(result);
    if (this.#isFull()) this.#socket.pause();
    this.#poke();
  }

  #isFull(): boolean {
    return this.#waiting.length >= waitingLinesMax || this.#waitingChars >= waitingCharsMax;
  }

  #finish(): void {
    if (this.#waiting.at(-1) === "end") return;
    this.#waiting.push(...this.#decoder.end(), "end");
    this.#poke();
  }

  #poke(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Waits until something happened; false at the deadline, which is a time of `performance`. */
  async #pause(deadline: number): Promise<boolean> {
    const left = deadline - performance.now();
    if (left <= 0) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), left);
    this.#wake = () => resolve(true);
    const happened = await promise;
    clearTimeout(timer);
    this.#wake = undefined;
    return happened;
  }
}

function charsOf(result: LineResult): number {
  return result.ok ? result.line.length : 0;
}

/** Through the folder, so that a path of any length fits the address of a socket. */
function openFolder(path: string): number {
  try {
    return openPath(dirname(path), "path");
  } catch (error) {
    return unreachable(path, (error as { code?: unknown }).code);
  }
}

function unreachable(path: string, code: unknown): never {
  const subject = `cannot connect to ${JSON.stringify(path)}`;
  if (code === "EACCES" || code === "EPERM") {
    return fail("EACCES", `${subject}: permission denied`, {
      hint: "only its owner and root may; run this as one of them",
    });
  }
  const reason = code === "ENOENT" ? "there is no such socket" : "nobody listens there";
  return fail("EHOSTDOWN", `${subject}: ${reason}`, {
    hint: "start the server; an agent of ctxd has its socket at agent/NAME.sock in the tree",
  });
}
