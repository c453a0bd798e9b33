// Connects to a Unix socket that speaks lines and checks who listens there before a byte is sent.
// Paths of any length: past sun_path the folder is opened and the socket reached through it.

import { closeSync } from "node:fs";
import { basename, dirname } from "node:path";
import { CodedError, fail } from "../abi/mod.ts";
import { openPath, probeUnix, throughFolder } from "../os/mod.ts";
import { Connection, type ConnectionOptions, type StreamSocket } from "./connection.ts";
import { connectRetryMs } from "./limits.ts";

/** Bytes of a path that fit sun_path with its NUL. Past it the path goes through the folder. */
const directPathBytesMax = 107;

/** Pause between two tries while the server's backlog is full, in milliseconds. */
const retryPauseMs = 10;

export interface ConnectOptions extends ConnectionOptions {
  readonly path: string;
  /**
   * Uids that the listening process may have, by the kernel's word; anything else is EACCES. "any"
   * is for a look at who listens, with nothing said.
   */
  readonly servers: readonly number[] | "any";
  /** What the person can do when nobody answers. */
  readonly hint?: string;
}

interface BunSocket extends StreamSocket {
  data: Connection | undefined;
}

/** Throws EHOSTDOWN when nobody listens, EACCES when a stranger does, `busy` when it is overrun. */
export async function connectLines(options: ConnectOptions): Promise<Connection> {
  const deadline = performance.now() + connectRetryMs;
  for (;;) {
    try {
      const connection = await connectOnce(options);
      return checkServer(connection, options);
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      if (error instanceof CodedError) throw error;
      if (code !== "ECONNREFUSED" || !isFull(options.path)) unreachable(options, code);
      if (performance.now() > deadline) {
        fail("busy", `cannot connect to "${options.path}": its backlog is full`);
      }
      await Bun.sleep(retryPauseMs);
    }
  }
}

async function connectOnce(options: ConnectOptions): Promise<Connection> {
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const handlers = {
    open(socket: BunSocket) {
      try {
        socket.data = new Connection(socket, options);
        resolve(socket.data);
      } catch (error) {
        socket.terminate();
        reject(error);
      }
    },
    data: (socket: BunSocket, chunk: Uint8Array) => socket.data?.onData(chunk),
    drain: (socket: BunSocket) => socket.data?.onDrain(),
    end: (socket: BunSocket) => socket.data?.onEnd(),
    close: (socket: BunSocket) => socket.data?.onClose(),
    error: (socket: BunSocket, error: unknown) => socket.data?.onError(error),
    connectError: (_socket: unknown, error: unknown) => reject(error),
  };
  promise.catch(() => {});
  // connect(2) itself runs inside the call, before it returns its promise.
  await throughPath(options.path, (unix) =>
    Bun.connect({ unix, allowHalfOpen: true, socket: handlers } as never),
  );
  return promise;
}

/** The runtime reports a full backlog as a refusal; the kernel's own word tells them apart. */
function isFull(path: string): boolean {
  return throughPath(path, probeUnix) !== "refused";
}

/** Calls with a path that fits sun_path and names the same socket. */
function throughPath<T>(path: string, use: (short: string) => T): T {
  if (Buffer.byteLength(path) <= directPathBytesMax) return use(path);
  const folder = openPath(dirname(path), "path");
  try {
    return use(throughFolder(folder, basename(path)));
  } finally {
    closeSync(folder);
  }
}

function checkServer(connection: Connection, options: ConnectOptions): Connection {
  const { servers } = options;
  if (servers === "any" || servers.includes(connection.peer.uid)) return connection;
  connection.destroy();
  return fail(
    "EACCES",
    `cannot use "${options.path}": a process of uid ${connection.peer.uid} listens there`,
    { hint: `expected uid ${servers.join(" or ")}` },
  );
}

function unreachable(options: ConnectOptions, code: unknown): never {
  if (code === "EACCES" || code === "EPERM") {
    return fail("EACCES", `cannot connect to "${options.path}": permission denied`, {
      hint: "only its owner and root may; run this as one of them",
    });
  }
  const detail = options.hint === undefined ? {} : { hint: options.hint };
  const reason = code === "ENOENT" ? "there is no such socket" : "nobody listens there";
  return fail("EHOSTDOWN", `cannot connect to "${options.path}": ${reason}`, detail);
}
