// One client's connection: its first line under a clock, its frames or bytes as events of the
// machine, and the machine's queue written as far as the kernel takes it. Decides nothing.

import type { Code } from "../abi/mod.ts";
import { peerCredentials } from "../os/mod.ts";
import {
  encodeTerminalFrame,
  type FirstLine,
  FirstLineReader,
  TerminalClientDecoder,
  type TerminalClientFrame,
} from "../terminal-wire/mod.ts";
import { terminalFirstLineMs, terminalLingerMs, terminalRefusalMs } from "./limits.ts";

/** What this needs of a Bun socket. */
export interface StreamSocket {
  readonly fd: number;
  write(bytes: Uint8Array): number;
  shutdown(): void;
  terminate(): void;
  pause(): void;
  resume(): void;
}

/** Where a connection's news go. */
export interface ClientEvents {
  joined(client: ClientSocket, first: FirstLine): void;
  frame(client: ClientSocket, frame: TerminalClientFrame): void;
  mistake(client: ClientSocket, reason: string): void;
  writable(client: ClientSocket): void;
  gone(client: ClientSocket): void;
}

export class ClientSocket {
  readonly id: number;
  readonly uid: number;
  readonly #socket: StreamSocket;
  readonly #events: ClientEvents;
  readonly #reader = new FirstLineReader();
  #decoder: TerminalClientDecoder | undefined;
  #first: FirstLine | undefined;
  /** Why it may not join, whatever its first line says. */
  #refusal: [Code, string] | undefined;
  #state: "greeting" | "joined" | "leaving" | "closed" = "greeting";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: number, socket: StreamSocket, events: ClientEvents) {
    this.id = id;
    this.#socket = socket;
    this.#events = events;
    this.uid = peerCredentials(socket.fd).uid;
    const late = `no whole first line within ${terminalFirstLineMs / 1000} s`;
    this.#timer = setTimeout(() => this.#refuse("ETIMEDOUT", late), terminalFirstLineMs);
  }

  /** How many bytes the kernel took; 0 when there is no room. */
  write(bytes: Uint8Array): number {
    if (this.#state === "closed") return 0;
    return Math.max(this.#socket.write(bytes), 0);
  }

  pause(): void {
    if (this.#state !== "closed") this.#socket.pause();
  }

  resume(): void {
    if (this.#state !== "closed") this.#socket.resume();
  }

  /** Does not let it join. The first line says in which form it is to be told, if it comes soon. */
  deny(code: Code, message: string): void {
    if (this.#state !== "greeting") return;
    this.#refusal = [code, message];
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#refuse(code, message), terminalRefusalMs);
  }

  /** Tells one that has not joined why it may not, as a line if it did not ask for frames. */
  #refuse(...because: [Code, string]): void {
    if (this.#state !== "greeting") return;
    const [code, message] = this.#refusal ?? because;
    if (this.#reader.asksFrames) this.write(encodeTerminalFrame({ type: "error", code, message }));
    // It may be shown by a terminal that does not begin a new line by itself.
    else this.write(new TextEncoder().encode(`ctxterm: ${message} [${code}]\r\n`));
    this.finish();
  }

  /** Everything is written: the peer reads the end and closes, or is cut. */
  finish(): void {
    if (this.#state === "leaving" || this.#state === "closed") return;
    this.#state = "leaving";
    this.#socket.resume();
    this.#socket.shutdown();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.cut(), terminalLingerMs);
  }

  cut(): void {
    if (this.#state === "closed") return;
    this.#socket.terminate();
    this.onClose();
  }

  // What the socket's handlers report. Only the server of the terminal calls these.

  onData(chunk: Uint8Array): void {
    if (this.#state === "greeting") this.#greet(chunk);
    else if (this.#state === "joined") this.#take(chunk);
  }

  onDrain(): void {
    if (this.#state === "joined") this.#events.writable(this);
  }

  /** The peer has said everything. It may well go on reading. */
  onEnd(): void {
    if (this.#state === "leaving") this.cut();
    else if (this.#state === "greeting") this.#refuse("EINVAL", "the first line is not whole");
  }

  onClose(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    clearTimeout(this.#timer);
    this.#events.gone(this);
  }

  #greet(chunk: Uint8Array): void {
    const result = this.#reader.push(chunk);
    if (result === undefined) return;
    if (!result.ok || this.#refusal !== undefined) {
      this.#refuse("EINVAL", result.ok ? "" : result.reason);
      return;
    }
    clearTimeout(this.#timer);
    this.#state = "joined";
    this.#first = result.first;
    if (result.first.framed) this.#decoder = new TerminalClientDecoder();
    this.#events.joined(this, result.first);
    if (result.rest.length > 0) this.#take(result.rest);
  }

  #take(chunk: Uint8Array): void {
    if (this.#decoder === undefined) {
      // What a watcher says in the plain form means nothing.
      if (this.#first?.mode === "attach") {
        this.#events.frame(this, { type: "data", data: chunk.slice() });
      }
      return;
    }
    for (const result of this.#decoder.push(chunk)) {
      if (!result.ok) this.#events.mistake(this, result.reason);
      else if (result.frame.type === "data" && this.#first?.mode === "watch") {
        this.#events.mistake(this, "a watcher sends no input");
      } else {
        this.#events.frame(this, copied(result.frame));
      }
    }
  }
}

/** The socket's buffer is its own again when the handler returns. */
function copied(frame: TerminalClientFrame): TerminalClientFrame {
  return frame.type === "resize" ? frame : { ...frame, data: frame.data.slice() };
}
