// A connection to a terminal in its framed form: frames come when they are asked for, so what nobody
// takes stays in the kernel and the other side sees a slow reader; what is sent waits for room.

import { closeSync } from "node:fs";
import { CodedError, fail } from "../abi/mod.ts";
import { type PeerCredentials, peerCredentials, probeUnix } from "../os/mod.ts";
import {
  encodeTerminalFrame,
  formatFirstLine,
  type TerminalClientFrame,
  TerminalFrameDecoder,
  type TerminalServerFrame,
} from "../terminal-wire/mod.ts";
import { type FoundSocket, subject, type TerminalName } from "./terminal-place.ts";

export type JoinMode = "attach" | "watch";

/** Time a terminal whose backlog is full gets to take one more, in milliseconds. Past it `busy`. */
const fullBacklogMs = 2_000;

/** Pause between two tries meanwhile, in milliseconds. */
const retryPauseMs = 10;

/** Frames that may wait to be taken before the socket is read no further. */
const waitingFramesMax = 16;

/** What this needs of a Bun socket. */
interface StreamSocket {
  readonly fd: number;
  write(bytes: Uint8Array): number;
  terminate(): void;
  pause(): void;
  resume(): void;
}

export class TerminalConnection {
  readonly path: string;
  readonly peer: PeerCredentials;
  #socket: StreamSocket;
  #decoder = new TerminalFrameDecoder();
  #waiting: TerminalServerFrame[] = [];
  #reader: (() => void) | undefined;
  #ended = false;
  #paused = false;
  #failure: CodedError | undefined;
  #unsent: Uint8Array[] = [];
  #drained: (() => void) | undefined;

  constructor(socket: StreamSocket, path: string) {
    this.#socket = socket;
    this.path = path;
    this.peer = peerCredentials(socket.fd);
  }

  /** The next frame; undefined when the other side is gone. Throws EIO for what is no frame. */
  async next(): Promise<TerminalServerFrame | undefined> {
    for (;;) {
      const frame = this.#waiting.shift();
      if (this.#paused && this.#waiting.length === 0) this.#resume();
      if (frame !== undefined) return frame;
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#ended) return undefined;
      await new Promise<void>((resolve) => {
        this.#reader = resolve;
      });
    }
  }

  /** Resolves when the kernel has taken the frame. What goes to a side that is gone is dropped. */
  send(frame: TerminalClientFrame): Promise<void> {
    return this.sendBytes(encodeTerminalFrame(frame));
  }

  async sendBytes(bytes: Uint8Array): Promise<void> {
    if (this.#ended) return;
    this.#unsent.push(bytes);
    if (this.#unsent.length === 1) this.#flush();
    if (this.#unsent.length === 0) return;
    const before = this.#drained;
    await new Promise<void>((resolve) => {
      this.#drained = () => {
        before?.();
        resolve();
      };
    });
  }

  close(): void {
    this.#socket.terminate();
    this.onClose();
  }

  #resume(): void {
    this.#paused = false;
    this.#socket.resume();
  }

  #wake(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.();
  }

  #flush(): void {
    while (this.#unsent.length > 0 && !this.#ended) {
      const first = this.#unsent[0] as Uint8Array;
      const taken = Math.max(this.#socket.write(first), 0);
      if (taken < first.length) {
        this.#unsent[0] = first.subarray(taken);
        return;
      }
      this.#unsent.shift();
    }
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
  }

  // What the socket's handlers report. Only this module calls these.

  onData(chunk: Uint8Array): void {
    if (this.#ended || this.#failure !== undefined) return;
    for (const result of this.#decoder.push(chunk)) {
      if (result.ok) this.#waiting.push(kept(result.frame));
      else {
        this.#failure = new CodedError(
          "EIO",
          `"${this.path}" sent what is no frame: ${result.reason}`,
        );
      }
    }
    if (this.#waiting.length > waitingFramesMax && !this.#paused) {
      this.#paused = true;
      this.#socket.pause();
    }
    this.#wake();
  }

  onDrain(): void {
    this.#flush();
  }

  onClose(): void {
    this.#ended = true;
    this.#unsent = [];
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
    this.#wake();
  }
}

/** A frame that outlives the next chunk: what it holds is the decoder's until then. */
function kept(frame: TerminalServerFrame): TerminalServerFrame {
  return "data" in frame ? { ...frame, data: frame.data.slice() } : frame;
}

/**
 * Joins the first of the sockets at which the agent's owner, or root, listens. Closes their
 * descriptors. Undefined when nobody listens at any; EACCES when a stranger does.
 */
export async function joinFirst(
  sockets: Iterable<FoundSocket>,
  name: TerminalName,
  mode: JoinMode,
): Promise<TerminalConnection | undefined> {
  for (const found of sockets) {
    try {
      const connection = await connectPatiently(found);
      if (connection === undefined) continue;
      const { uid } = connection.peer;
      if (uid === name.owner || uid === 0) {
        await connection.sendBytes(
          new TextEncoder().encode(formatFirstLine({ mode, framed: true })),
        );
        return connection;
      }
      connection.close();
      fail("EACCES", `cannot join ${subject(name)}: a process of uid ${uid} listens there`, {
        hint: `expected uid ${name.owner}; look at "${found.path}"`,
      });
    } finally {
      closeSync(found.fd);
    }
  }
  return undefined;
}

async function connectPatiently(found: FoundSocket): Promise<TerminalConnection | undefined> {
  const deadline = performance.now() + fullBacklogMs;
  for (;;) {
    const connection = await connect(found);
    // The runtime reports a full backlog as a refusal; the kernel's own word tells them apart.
    if (connection !== undefined || probeUnix(`/proc/self/fd/${found.fd}`) === "refused") {
      return connection;
    }
    if (performance.now() > deadline)
      fail("busy", `cannot join "${found.path}": its backlog is full`);
    await Bun.sleep(retryPauseMs);
  }
}

/** Undefined when nobody listens. By descriptor: of any length, and the very file that was checked. */
async function connect(found: FoundSocket): Promise<TerminalConnection | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<TerminalConnection>();
  let connection: TerminalConnection | undefined;
  const handlers = {
    open(socket: StreamSocket) {
      connection = new TerminalConnection(socket, found.path);
      resolve(connection);
    },
    data: (_socket: unknown, chunk: Uint8Array) => connection?.onData(chunk),
    drain: () => connection?.onDrain(),
    end: () => connection?.onClose(),
    close: () => connection?.onClose(),
    error: () => connection?.onClose(),
    connectError: (_socket: unknown, error: unknown) => reject(error),
  };
  try {
    promise.catch(() => {});
    await Bun.connect({ unix: `/proc/self/fd/${found.fd}`, socket: handlers } as never);
    return await promise;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ECONNREFUSED" || code === "ENOENT") return undefined;
    if (code === "EACCES" || code === "EPERM") {
      fail("EACCES", `cannot join "${found.path}": permission denied`, {
        hint: "only its owner and root may; run this as one of them",
      });
    }
    throw error;
  }
}
