// A client of a terminal that says only what a test tells it to, in either form.

import {
  encodeTerminalFrame,
  type TerminalClientFrame,
  TerminalFrameDecoder,
  type TerminalServerFrame,
} from "../../internal/terminal-wire/mod.ts";

interface StreamSocket {
  write(bytes: Uint8Array): number;
  pause(): void;
  resume(): void;
  shutdown(): void;
  terminate(): void;
}

/** Keeps what it gets, unless it was told to only measure it. */
export class TerminalClient {
  #socket: StreamSocket | undefined;
  #decoder: TerminalFrameDecoder | undefined;
  #parts: Uint8Array[] = [];
  #unsent: Uint8Array[] = [];
  #changed = Promise.withResolvers<void>();
  readonly frames: TerminalServerFrame[] = [];
  /** Takes the bytes of the terminal in place of keeping them. */
  sink: ((bytes: Uint8Array) => void) | undefined;
  ended = false;

  static async connect(path: string, first: string): Promise<TerminalClient> {
    const client = new TerminalClient();
    if (first.includes("/1")) client.#decoder = new TerminalFrameDecoder();
    const socket = {
      data: (_socket: unknown, chunk: Uint8Array) => client.#take(chunk.slice()),
      drain: () => client.#flush(),
      end: () => client.#over(),
      close: () => client.#over(),
      error: () => client.#over(),
    };
    client.#socket = (await Bun.connect({ unix: path, socket } as never)) as StreamSocket;
    if (first !== "") client.write(new TextEncoder().encode(first));
    return client;
  }

  write(bytes: Uint8Array): void {
    this.#unsent.push(bytes);
    if (this.#unsent.length === 1) this.#flush();
  }

  send(frame: TerminalClientFrame): void {
    this.write(encodeTerminalFrame(frame));
  }

  type(text: string): void {
    const data = new TextEncoder().encode(text);
    if (this.#decoder === undefined) this.write(data);
    else this.send({ type: "data", data });
  }

  stopReading(): void {
    this.#socket?.pause();
  }

  readOn(): void {
    this.#socket?.resume();
  }

  endInput(): void {
    this.#socket?.shutdown();
  }

  close(): void {
    this.#socket?.terminate();
  }

  /** What the terminal said, snapshot included. */
  get text(): string {
    return Buffer.concat(this.#parts).toString("utf8");
  }

  /** Resolves when it holds; rejects when the connection ended without. */
  async until(holds: (client: TerminalClient) => boolean): Promise<this> {
    while (!holds(this)) {
      if (this.ended) throw new Error(`the connection ended; it had said ${this.text.slice(-200)}`);
      await this.#changed.promise;
    }
    return this;
  }

  async untilEnd(): Promise<this> {
    while (!this.ended) await this.#changed.promise;
    return this;
  }

  frame<Type extends TerminalServerFrame["type"]>(
    type: Type,
  ): Extract<TerminalServerFrame, { type: Type }> | undefined {
    return this.frames.findLast((frame) => frame.type === type) as never;
  }

  #take(chunk: Uint8Array): void {
    if (this.#decoder === undefined) this.#keep(chunk);
    else {
      for (const result of this.#decoder.push(chunk)) {
        if (!result.ok) throw new Error(result.reason);
        const { frame } = result;
        if (frame.type === "data" || frame.type === "snapshot") this.#keep(frame.data);
        if (frame.type !== "data") this.frames.push(frame);
      }
    }
    this.#wake();
  }

  #keep(bytes: Uint8Array): void {
    if (this.sink === undefined) this.#parts.push(bytes);
    else this.sink(bytes);
  }

  #flush(): void {
    for (let first = this.#unsent[0]; first !== undefined && !this.ended; first = this.#unsent[0]) {
      const taken = Math.max(this.#socket?.write(first) ?? 0, 0);
      if (taken < first.length) {
        this.#unsent[0] = first.subarray(taken);
        return;
      }
      this.#unsent.shift();
    }
  }

  #over(): void {
    this.ended = true;
    this.#wake();
  }

  #wake(): void {
    const changed = this.#changed;
    this.#changed = Promise.withResolvers();
    changed.resolve();
  }
}
