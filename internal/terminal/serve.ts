// Serves one pseudo-terminal to its clients from the child's start to its end: runs the machine of
// the clients with a real terminal, an emulator and sockets. The child's output is never held for
// anybody but a client that lags and reads; the machine says for whom, and who is dropped.

import { geteuid } from "node:process";
import { type Code, killGraceMs } from "../abi/mod.ts";
import { refuseConnections } from "../os/mod.ts";
import { openPty, type Pty, type PtyExit } from "../pty/mod.ts";
import { clampSize, createScreen, type Screen } from "../screen/mod.ts";
import {
  type ClientsEffect,
  type ClientsEvent,
  type TerminalClientFrame,
  TerminalClients,
  type TerminalDraft,
  terminalClientsMax,
} from "../terminal-wire/mod.ts";
import { type ClientEvents, ClientSocket, type StreamSocket } from "./client-socket.ts";
import {
  terminalAcceptMs,
  terminalBlockBytes,
  terminalEndMs,
  terminalNewcomerMs,
  terminalPieceBytes,
  terminalTickMs,
} from "./limits.ts";
import { type ListenPlace, openListener, type TerminalListener } from "./listener.ts";

export interface RecordSink {
  push(draft: TerminalDraft): void;
  close(): Promise<void>;
}

export interface TerminalOptions {
  readonly listen: ListenPlace;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly cols: number;
  readonly rows: number;
  readonly record?: RecordSink;
  /** Aborted to end the child: HUP to its group, KILL after the grace. */
  readonly signal: AbortSignal;
  /** Of each client that was let go for a reason. */
  onDropped?(code: Code, message: string): void;
}

/** Resolves when the child has ended and its clients are told. Throws what kept it from starting. */
export async function serveTerminal(options: TerminalOptions): Promise<PtyExit> {
  const listener = openListener(options.listen);
  try {
    const server = new TerminalServer(options, listener);
    return await server.run();
  } finally {
    listener.release();
  }
}

interface BunSocket extends StreamSocket {
  data: ClientSocket | undefined;
}

class TerminalServer implements ClientEvents {
  readonly #options: TerminalOptions;
  readonly #machine: TerminalClients;
  readonly #screen: Screen;
  readonly #pty: Pty;
  readonly #sockets = new Map<number, ClientSocket>();
  readonly #listener: { stop(closeActive?: boolean): void };
  readonly #listening: number;
  #isHeld = false;
  /** Output of this turn of the event loop that nobody was told of yet. */
  #block = new Uint8Array(terminalBlockBytes);
  #filled = 0;
  #emitting: ReturnType<typeof setImmediate> | undefined;
  #nextId = 1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #emptied: (() => void) | undefined;

  constructor(options: TerminalOptions, listener: TerminalListener) {
    const { cols, rows } = clampSize(options.cols, options.rows);
    this.#options = options;
    this.#listening = listener.fd;
    this.#machine = new TerminalClients({ cols, rows });
    const answer = (bytes: Uint8Array) => this.#step({ kind: "answer", bytes });
    this.#screen = createScreen({ cols, rows, answer });
    this.#screen.answering = true;
    this.#record({ type: "pty.resize", at: Date.now(), cols, rows });
    this.#pty = openPty({
      ...{ command: options.command, cols, rows },
      ...(options.env && { env: options.env }),
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      onData: (bytes) => this.#output(bytes),
      onWritten: () => this.#step({ kind: "written" }),
    });
    this.#listener = Bun.listen<ClientSocket | undefined>({
      fd: listener.fd,
      allowHalfOpen: true,
      socket: {
        open: (socket: BunSocket) => this.#accept(socket),
        data: (socket: BunSocket, chunk: Uint8Array) => socket.data?.onData(chunk),
        drain: (socket: BunSocket) => socket.data?.onDrain(),
        end: (socket: BunSocket) => socket.data?.onEnd(),
        close: (socket: BunSocket) => socket.data?.onClose(),
        error: (socket: BunSocket) => socket.data?.cut(),
      },
      // bun-types knows neither `fd` nor the descriptor of a socket.
    } as never);
  }

  async run(): Promise<PtyExit> {
    const { signal, record } = this.#options;
    const stop = () => this.#stop();
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    const end = await this.#pty.ended;
    this.#emit();
    signal.removeEventListener("abort", stop);
    this.#record({ type: "process.exit", at: Date.now(), ...end });
    this.#step({ kind: "exit", ...end, nowMs: performance.now() });
    await Promise.all([record?.close(), this.#farewell()]);
    clearTimeout(this.#timer);
    this.#screen.close();
    return end;
  }

  /** Whoever is on the way in still learns the end; whoever does not read it is cut. */
  async #farewell(): Promise<void> {
    await Bun.sleep(terminalNewcomerMs);
    refuseConnections(this.#listening);
    await Bun.sleep(terminalAcceptMs);
    this.#listener.stop(false);
    if (this.#sockets.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#emptied = resolve;
      const timer = setTimeout(resolve, terminalEndMs);
      await promise;
      clearTimeout(timer);
    }
    for (const socket of [...this.#sockets.values()]) socket.cut();
  }

  #stop(): void {
    this.#pty.kill("SIGHUP");
    this.#pty.kill("SIGCONT");
    const timer = setTimeout(() => this.#pty.kill("SIGKILL"), killGraceMs);
    void this.#pty.ended.then(() => clearTimeout(timer));
  }

  #accept(socket: BunSocket): void {
    const client = new ClientSocket(this.#nextId++, socket, this);
    socket.data = client;
    const isFull = this.#sockets.size >= terminalClientsMax;
    this.#sockets.set(client.id, client);
    if (client.uid !== geteuid?.()) {
      client.deny("EACCES", "only the terminal's owner may join it");
    } else if (isFull) {
      client.deny("busy", `${terminalClientsMax} clients are here already`);
    }
  }

  #record(draft: TerminalDraft): void {
    this.#options.record?.push(draft);
  }

  /** Small pieces of one turn of the event loop go on as one, each of a size with no wait at all. */
  #output(bytes: Uint8Array): void {
    if (bytes.length >= terminalPieceBytes) {
      this.#emit();
      this.#tell(bytes);
      return;
    }
    if (this.#filled + bytes.length > this.#block.length) this.#emit();
    this.#block.set(bytes, this.#filled);
    this.#filled += bytes.length;
    this.#emitting ??= setImmediate(() => this.#emit());
  }

  #emit(): void {
    clearImmediate(this.#emitting);
    this.#emitting = undefined;
    if (this.#filled === 0) return;
    const bytes = this.#block.slice(0, this.#filled);
    this.#filled = 0;
    this.#tell(bytes);
  }

  #tell(bytes: Uint8Array): void {
    this.#record({ type: "pty.output", at: Date.now(), data: bytes });
    this.#screen.push(bytes);
    this.#step({ kind: "data", bytes, nowMs: performance.now() });
  }

  /** The child's writes wait while clients that read are far behind. */
  #pace(): void {
    const isLagging = this.#machine.paced(performance.now());
    if (isLagging === this.#isHeld) return;
    this.#isHeld = isLagging;
    this.#pty.hold(isLagging);
  }

  #step(event: ClientsEvent): void {
    for (const effect of this.#machine.step(event)) this.#apply(effect);
    if (event.kind === "data" || this.#isHeld) this.#pace();
    this.#watch();
  }

  #apply(effect: ClientsEffect): void {
    if (effect.kind === "flush") this.#flush(effect.client);
    else if (effect.kind === "write") this.#pty.write(effect.bytes);
    else if (effect.kind === "snapshot") void this.#snapshot(effect.generation);
    else if (effect.kind === "answering") this.#screen.answering = effect.on;
    else if (effect.kind === "resize") this.#resize(effect.cols, effect.rows);
    else if (effect.kind === "dropped") {
      this.#options.onDropped?.(effect.code, effect.message);
    } else {
      const socket = this.#sockets.get(effect.client);
      if (effect.kind === "finish") socket?.finish();
      else if (effect.kind === "cut") socket?.cut();
      else if (effect.kind === "pause") socket?.pause();
      else socket?.resume();
    }
  }

  #resize(cols: number, rows: number): void {
    this.#emit();
    this.#pty.resize(cols, rows);
    this.#screen.resize(cols, rows);
    this.#record({ type: "pty.resize", at: Date.now(), cols, rows });
  }

  async #snapshot(generation: number): Promise<void> {
    const { position } = this.#machine;
    const shot = await this.#screen.snapshot();
    this.#step({ kind: "snapshot", generation, position, shot, nowMs: performance.now() });
  }

  /** Writes what waits for a client until the kernel takes no more; whether it took anything. */
  #flush(client: number): boolean {
    const socket = this.#sockets.get(client);
    let any = false;
    for (;;) {
      const bytes = this.#machine.head(client);
      if (bytes === undefined || socket === undefined) return any;
      const taken = socket.write(bytes);
      if (taken === 0) return any;
      any = true;
      this.#step({ kind: "taken", client, bytes: taken, nowMs: performance.now() });
      if (taken < bytes.length) return any;
    }
  }

  /** Looks at the queues while something waits in one. */
  #watch(): void {
    if (this.#timer !== undefined || !this.#machine.waiting) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#step({ kind: "tick", nowMs: performance.now() });
    }, terminalTickMs);
  }

  joined(client: ClientSocket, first: { mode: "watch" | "attach"; framed: boolean }): void {
    this.#step({ kind: "join", client: client.id, first, nowMs: performance.now() });
  }

  frame(client: ClientSocket, frame: TerminalClientFrame): void {
    const nowMs = performance.now();
    if (frame.type === "data") this.#step({ kind: "input", client: client.id, bytes: frame.data });
    else if (frame.type === "ping") {
      this.#step({ kind: "ping", client: client.id, bytes: frame.data, nowMs });
    } else {
      // The child and the screen have to agree, so nobody asks for more than both can have.
      const size = clampSize(frame.cols, frame.rows);
      this.#step({ kind: "size", client: client.id, ...size, nowMs });
    }
  }

  mistake(client: ClientSocket, message: string): void {
    const nowMs = performance.now();
    this.#step({ kind: "refuse", client: client.id, code: "EINVAL", message, nowMs });
  }

  writable(client: ClientSocket): void {
    this.#flush(client.id);
  }

  gone(client: ClientSocket): void {
    this.#sockets.delete(client.id);
    this.#step({ kind: "leave", client: client.id });
    if (this.#sockets.size === 0) this.#emptied?.();
  }
}
