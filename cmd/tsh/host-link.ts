// The connection on which the host hands this shell the agent's calls. It is opened anew when the host
// goes away, as when the server is restarted, and while another shell of the terminal has them.

import {
  decodeCapabilityAnswer,
  decodeHostLine,
  encodeTerminalCall,
  type HostLine,
  type ShellLine,
} from "../../internal/capability/mod.ts";
import type { Connection } from "../../internal/sock/mod.ts";
import { connectHost } from "./authorize.ts";

/** Pauses between two tries, in milliseconds: doubled each time, from the first to the last. */
const firstPauseMs = 50;
const lastPauseMs = 2000;

export interface HostListener {
  line(line: HostLine): void;
  /** What it was asked is for nobody any more. */
  lost(): void;
}

export class HostLink {
  readonly #socket: string;
  readonly #listener: HostListener;
  #connection: Connection | undefined;
  #closed = false;
  #wake = () => {};

  constructor(socket: string, listener: HostListener) {
    this.#socket = socket;
    this.#listener = listener;
    void this.#keep();
  }

  /** A returned promise means that the host does not read as fast: await it before the next. */
  send(line: ShellLine): Promise<void> | undefined {
    return this.#connection?.send(encodeTerminalCall(line));
  }

  close(): void {
    this.#closed = true;
    this.#wake();
    this.#connection?.destroy();
  }

  async #keep(): Promise<void> {
    let pause = firstPauseMs;
    while (!this.#closed) {
      if (await this.#serve()) pause = firstPauseMs;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, pause).unref();
      });
      pause = Math.min(2 * pause, lastPauseMs);
    }
  }

  /** Resolves when it is over; true when it had been let in. */
  async #serve(): Promise<boolean> {
    let connection: Connection;
    try {
      connection = await connectHost(this.#socket);
    } catch {
      return false;
    }
    if (this.#closed) {
      connection.destroy();
      return false;
    }
    let served = false;
    try {
      const request_id = crypto.randomUUID();
      await connection.send(encodeTerminalCall({ op: "terminal.serve", request_id }));
      const first = await connection.next();
      if (first?.ok !== true) return false;
      const reply = decodeCapabilityAnswer(first.line);
      if (!reply.ok || !("ok" in reply.answer) || !reply.answer.ok) return false;
      served = true;
      this.#connection = connection;
      for await (const line of connection) {
        if (!line.ok) break;
        const decoded = decodeHostLine(line.line);
        // What a later host says beyond this is not for this shell.
        if (decoded.ok) this.#listener.line(decoded.frame);
      }
    } finally {
      this.#connection = undefined;
      connection.destroy();
      if (served) this.#listener.lost();
    }
    return served;
  }
}
