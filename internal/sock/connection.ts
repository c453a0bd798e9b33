// One connected Unix stream socket that speaks lines, from either end. The peer's credentials are
// read once, when the connection begins. Reading is pull: what nobody takes stays in the kernel.
// Writing is bounded: see Outbound. `closed` settles exactly once, whoever closed.

import { LineDecoder, type LineResult } from "../frame/mod.ts";
import { type PeerCredentials, type PeerProcess, peerCredentials, peerProcess } from "../os/mod.ts";
import { inboundLinesMax, lingerMs, outboundQueueBytesMax, outboundStallMs } from "./limits.ts";
import { Outbound } from "./outbound.ts";

/** Why a connection ended: its peer left, we finished or cut it, or the peer did not read. */
export type CloseReason = "peer" | "local" | "slow_consumer";

export interface ConnectionOptions {
  /** One received line, newline included. Past it the line is EMSGSIZE and nothing more is read. */
  readonly lineBytesMax: number;
  readonly outboundBytesMax?: number;
  readonly stallMs?: number;
  readonly lingerMs?: number;
}

/** What this module needs of a Bun socket. */
export interface StreamSocket {
  readonly fd: number;
  write(bytes: Uint8Array): number;
  shutdown(): void;
  terminate(): void;
  pause(): void;
  resume(): void;
}

export class Connection implements AsyncIterable<LineResult> {
  readonly peer: PeerCredentials;
  readonly closed: Promise<CloseReason>;
  #socket: StreamSocket;
  #decoder: LineDecoder;
  #outbound: Outbound;
  #lines: LineResult[] = [];
  #reader: ((line: LineResult | undefined) => void) | undefined;
  #inputEnded = false;
  #paused = false;
  #ending = false;
  #isClosed = false;
  #reason: CloseReason | undefined;
  #settle: (reason: CloseReason) => void;
  #linger: ReturnType<typeof setTimeout> | undefined;
  #lingerMs: number;

  constructor(socket: StreamSocket, options: ConnectionOptions) {
    this.#socket = socket;
    this.peer = peerCredentials(socket.fd);
    this.#decoder = new LineDecoder(options.lineBytesMax);
    this.#lingerMs = options.lingerMs ?? lingerMs;
    const { promise, resolve } = Promise.withResolvers<CloseReason>();
    this.closed = promise;
    this.#settle = resolve;
    this.#outbound = new Outbound({
      write: (bytes) => socket.write(bytes),
      onSlow: () => this.#cut("slow_consumer"),
      bytesMax: options.outboundBytesMax ?? outboundQueueBytesMax,
      stallMs: options.stallMs ?? outboundStallMs,
    });
  }

  /** The peer pinned by a pidfd that the caller closes. Throws SystemError when it has ended. */
  pinPeer(): PeerProcess {
    return peerProcess(this.#socket.fd);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Bytes that wait for the peer, beyond what the kernel took. */
  get queuedBytes(): number {
    return this.#outbound.bytes;
  }

  /** The next line, or undefined when the peer has said everything or is gone. One reader. */
  next(): Promise<LineResult | undefined> {
    const line = this.#lines.shift();
    if (line !== undefined) {
      if (this.#paused && this.#lines.length === 0) this.#resume();
      return Promise.resolve(line);
    }
    if (this.#inputEnded || this.#isClosed || this.#ending) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#reader = resolve;
    });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LineResult> {
    for (let line = await this.next(); line !== undefined; line = await this.next()) yield line;
  }

  /**
   * Sends one line that ends in LF. A returned promise means that the kernel did not take all of it:
   * a producer awaits it before its next line. On a closed connection the line is dropped.
   */
  send(line: string): Promise<void> | undefined {
    if (this.#isClosed || this.#ending) return undefined;
    return this.#outbound.push(new TextEncoder().encode(line));
  }

  /** Closes after everything queued is written and the peer had a moment to read and leave. */
  end(): void {
    if (this.#ending || this.#isClosed) return;
    this.#ending = true;
    this.#lines = [];
    this.#reader?.(undefined);
    this.#reader = undefined;
    this.#resume();
    void Promise.resolve(this.#outbound.drained()).then(() => this.#farewell());
  }

  /** Closes at once; what was not written is lost. */
  destroy(): void {
    this.#cut("local");
  }

  #farewell(): void {
    if (this.#isClosed) return;
    this.#socket.shutdown();
    if (this.#inputEnded) {
      this.#cut("local");
      return;
    }
    this.#linger = setTimeout(() => this.#cut("local"), this.#lingerMs);
  }

  #cut(reason: CloseReason): void {
    if (this.#isClosed) return;
    this.#reason ??= reason;
    this.#socket.terminate();
    this.onClose();
  }

  #resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  // What the socket's handlers report. Only this module calls these.

  onData(chunk: Uint8Array): void {
    if (this.#ending || this.#isClosed) return;
    this.#receive(this.#decoder.push(chunk));
  }

  onDrain(): void {
    this.#outbound.flush();
  }

  onEnd(): void {
    if (this.#inputEnded) return;
    if (!this.#ending) this.#receive(this.#decoder.end());
    this.#inputEnded = true;
    this.#reader?.(undefined);
    this.#reader = undefined;
    if (this.#linger !== undefined) this.#cut("local");
  }

  onError(error: unknown): void {
    this.#cut("peer");
    // The runtime reports what a handler threw here too. That is a bug and must not stay quiet.
    const { code, errno } = (error ?? {}) as { code?: unknown; errno?: unknown };
    const isSystem = typeof code === "string" || typeof errno === "number";
    if (!isSystem) queueMicrotask(() => Promise.reject(error));
  }

  onClose(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#linger);
    this.#outbound.close();
    this.#reader?.(undefined);
    this.#reader = undefined;
    this.#settle(this.#reason ?? (this.#ending ? "local" : "peer"));
  }

  #receive(results: readonly LineResult[]): void {
    for (const result of results) {
      const reader = this.#reader;
      if (reader === undefined) {
        this.#lines.push(result);
      } else {
        this.#reader = undefined;
        reader(result);
      }
    }
    if (this.#lines.length > inboundLinesMax && !this.#paused) {
      this.#paused = true;
      this.#socket.pause();
    }
  }
}
