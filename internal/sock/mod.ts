// The door of line sockets: listen, connect, and the connection both ends hold.

export { adoptLines } from "./adopt.ts";
export { type ConnectOptions, connectLines } from "./client.ts";
export { type CloseReason, Connection, type ConnectionOptions } from "./connection.ts";
export * from "./limits.ts";
export {
  type FirstLine,
  firstLine,
  type LineServer,
  listenLines,
  type ServerOptions,
} from "./server.ts";
