// A listening Unix socket that hands out line connections. It is bound through its folder's
// descriptor, so that the longest names fit sun_path, and its file is removed through the same
// descriptor. Peers that the kernel cannot name are refused here; who may ask what is not known here.

import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { type Code, coded, fail } from "../abi/mod.ts";
import { type FileOwner, listenUnix, throughFolder } from "../os/mod.ts";
import { Connection, type ConnectionOptions, type StreamSocket } from "./connection.ts";
import { firstLineMs, socketBacklogLength, socketConnectionsMax } from "./limits.ts";

/** The kernel's name for a uid that has none in this user namespace. */
const overflowUid = 65534;

export interface ServerOptions extends ConnectionOptions {
  /** Descriptor of the folder that holds the socket; the caller keeps it open and closes it. */
  readonly folder: number;
  readonly name: string;
  readonly owner?: FileOwner | undefined;
  /** Mode of the socket's file; 0600 when absent. */
  readonly mode?: number;
  readonly connectionsMax?: number;
  readonly firstLineMs?: number;
  /** The line that tells a peer why it is not served. */
  refusal(code: Code, message: string): string;
  /** Called once for each connection that may speak; its end is `connection.closed`. */
  onConnection(connection: Connection): void;
}

export interface LineServer {
  readonly connections: number;
  /** False once the socket's file was removed or replaced: nobody finds this server any more. */
  readonly inPlace: boolean;
  /** Accepts no more and removes the socket's file; open connections stay. */
  stop(): void;
  /** Cuts what is left. */
  close(): void;
}

interface BunSocket extends StreamSocket {
  data: Connection | undefined;
}

/** Throws EEXIST when the name is taken by something that is no socket. */
export function listenLines(options: ServerOptions): LineServer {
  const path = throughFolder(options.folder, options.name);
  removeStaleSocket(path, options.name);
  const fd = listenUnix(path, socketBacklogLength, options.owner);
  // Only now that it listens may others than the owner see it.
  if (options.mode !== undefined) chmodSync(path, options.mode);
  const inode = lstatSync(path).ino;
  const open = new Set<Connection>();
  const listener = Bun.listen<Connection | undefined>({
    fd,
    allowHalfOpen: true,
    socket: {
      open: (socket: BunSocket) => accept(socket, options, open),
      data: (socket: BunSocket, chunk: Uint8Array) => socket.data?.onData(chunk),
      drain: (socket: BunSocket) => socket.data?.onDrain(),
      end: (socket: BunSocket) => socket.data?.onEnd(),
      close: (socket: BunSocket) => socket.data?.onClose(),
      error: (socket: BunSocket, error: unknown) => socket.data?.onError(error),
    },
    // bun-types knows neither `fd` nor the descriptor of a socket.
  } as never);
  let stopped = false;
  const stop = () => {
    if (stopped) return;
    stopped = true;
    listener.stop(false);
    removeOwn(path, inode);
  };
  return {
    get connections() {
      return open.size;
    },
    get inPlace() {
      return isOwn(path, inode);
    },
    stop,
    close() {
      stop();
      for (const connection of [...open]) connection.destroy();
    },
  };
}

function accept(socket: BunSocket, options: ServerOptions, open: Set<Connection>): void {
  const connection = new Connection(socket, options);
  socket.data = connection;
  const refuse = (code: Code, message: string) => {
    connection.send(options.refusal(code, message));
    connection.destroy();
  };
  const { peer } = connection;
  if (peer.pid === 0 || peer.uid === overflowUid) {
    refuse("EACCES", "the peer's identity is not known in this user namespace");
    return;
  }
  const most = options.connectionsMax ?? socketConnectionsMax;
  if (open.size >= most) {
    refuse("busy", `${most} connections are open already`);
    return;
  }
  open.add(connection);
  void connection.closed.then(() => open.delete(connection));
  options.onConnection(connection);
}

/**
 * The first line under the clock of a connection that was just accepted: ETIMEDOUT in place of a
 * peer that connects and says nothing, EHOSTDOWN once `stopping` is aborted.
 */
export async function firstLine(
  connection: Connection,
  stopping: AbortSignal,
  waitMs = firstLineMs,
): Promise<FirstLine | undefined> {
  const { promise, resolve } = Promise.withResolvers<FirstLine>();
  const down = () =>
    resolve({ ok: false, code: "EHOSTDOWN", reason: "the server is stopping" } as const);
  if (stopping.aborted) down();
  stopping.addEventListener("abort", down, { once: true });
  const timer = setTimeout(() => {
    const reason = `no whole line within ${waitMs / 1000} s`;
    resolve({ ok: false, code: "ETIMEDOUT", reason });
  }, waitMs);
  try {
    return await Promise.race([promise, connection.next()]);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener("abort", down);
  }
}

export type FirstLine =
  | { readonly ok: true; readonly line: string }
  | { readonly ok: false; readonly code: Code; readonly reason: string };

function removeStaleSocket(path: string, name: string): void {
  const facts = lstatSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return;
  if (!facts.isSocket()) {
    fail("EEXIST", `cannot listen on "${name}": the name is taken by something else`, {
      hint: "move it away",
    });
  }
  unlinkSync(path);
}

function isOwn(path: string, inode: number): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.ino === inode;
}

/** A successor may have put its own socket there; that one stays. */
function removeOwn(path: string, inode: number): void {
  try {
    if (isOwn(path, inode)) unlinkSync(path);
  } catch (error) {
    if (coded(error).code !== "ENOENT") throw error;
  }
}
