// A terminal's side of the framed protocol, as small as a test can have it: what clients send is
// kept, what they are sent is what the test says. Listens where a session's terminal would.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { encodeTerminalFrame, type TerminalServerFrame } from "../../internal/terminal-wire/mod.ts";

export interface Client {
  /** The first line, without its LF. */
  mode: string;
  /** Frames as `D` and text, or `R` and a size. */
  readonly said: string[];
  readonly left: Promise<void>;
  send(frame: TerminalServerFrame): void;
  end(): void;
}

export class TerminalServer {
  readonly path: string;
  readonly clients: Client[] = [];
  readonly #listener: { stop(closing?: boolean): void };
  #changed = Promise.withResolvers<void>();

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.path = join(folder, "main.sock");
    rmSync(this.path, { force: true });
    const changed = () => {
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    };
    this.#listener = Bun.listen<Peer>({
      unix: this.path,
      socket: {
        open: (socket) => {
          const peer = new Peer(socket);
          socket.data = peer;
          this.clients.push(peer);
        },
        data: (socket, bytes) => {
          socket.data.receive(bytes);
          changed();
        },
        close: (socket) => {
          socket.data.gone();
          changed();
        },
      },
    });
  }

  /** Resolves when `is` holds for what has come so far. */
  async until(is: () => boolean): Promise<void> {
    while (!is()) await this.#changed.promise;
  }

  stop(): void {
    this.#listener.stop(true);
  }
}

class Peer implements Client {
  mode = "";
  readonly said: string[] = [];
  readonly left: Promise<void>;
  readonly gone: () => void;
  #socket: { write(bytes: Uint8Array): number; end(): unknown };
  #rest = Buffer.alloc(0);

  constructor(socket: { write(bytes: Uint8Array): number; end(): unknown }) {
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.left = promise;
    this.gone = resolve;
  }

  send(frame: TerminalServerFrame): void {
    this.#socket.write(encodeTerminalFrame(frame));
  }

  end(): void {
    this.#socket.end();
  }

  receive(bytes: Uint8Array): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    if (this.mode === "") {
      const end = this.#rest.indexOf(10);
      if (end < 0) return;
      this.mode = this.#rest.toString("utf8", 0, end);
      this.#rest = this.#rest.subarray(end + 1);
    }
    for (;;) {
      if (this.#rest.length < 5) return;
      const size = this.#rest.readUInt32BE(1);
      if (this.#rest.length < 5 + size) return;
      const type = this.#rest.toString("latin1", 0, 1);
      const payload = this.#rest.subarray(5, 5 + size);
      this.#rest = this.#rest.subarray(5 + size);
      const text =
        type === "R" ? `${payload.readUInt16BE(0)}x${payload.readUInt16BE(2)}` : payload.toString();
      const last = this.said.at(-1);
      // How typed text was cut into reads is no business of a test.
      if (type === "D" && last?.startsWith("D ")) this.said[this.said.length - 1] = last + text;
      else this.said.push(`${type} ${text}`);
    }
  }
}
