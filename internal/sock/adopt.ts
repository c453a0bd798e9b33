// A connection over a socket that is there already: one end of a pair whose other end another process
// has, or had as its standard input.

import { Connection, type ConnectionOptions, type StreamSocket } from "./connection.ts";

interface BunSocket extends StreamSocket {
  data: Connection | undefined;
}

/** The descriptor belongs to the connection from here on. */
export async function adoptLines(fd: number, options: ConnectionOptions): Promise<Connection> {
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
  // bun-types knows no `fd` of Bun.connect.
  await Bun.connect({ fd, allowHalfOpen: true, socket: handlers } as never);
  return promise;
}
