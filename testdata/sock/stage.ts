// A line server in a throw-away folder for the tests of sockets.

import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Code } from "../../internal/abi/mod.ts";
import {
  type Connection,
  type LineServer,
  listenLines,
  type ServerOptions,
} from "../../internal/sock/mod.ts";

export const own = process.getuid?.() ?? 0;
const cleanups: (() => void)[] = [];
/** For `afterEach`. */
export function cleanUp(): void {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
}

/** Runs at the end of the test, last first. */
export function later(cleanup: () => void): void {
  cleanups.push(cleanup);
}

export function place(): { path: string; folder: number } {
  const path = mkdtempSync("/tmp/cortexfs-sock-");
  const folder = openSync(path, "r");
  cleanups.push(() => {
    closeSync(folder);
    rmSync(path, { recursive: true, force: true });
  });
  return { path, folder };
}

export const refusal = (code: Code, message: string) => `${JSON.stringify({ code, message })}\n`;

export function serve(
  onConnection: (connection: Connection) => void,
  options: Partial<ServerOptions> = {},
): { path: string; server: LineServer } {
  const { path, folder } = place();
  const name = options.name ?? "x.sock";
  const server = listenLines({
    lineBytesMax: 1024,
    refusal,
    onConnection,
    ...options,
    folder,
    name,
  });
  cleanups.push(() => server.close());
  return { path: join(path, name), server };
}

export async function echo(connection: Connection): Promise<void> {
  for await (const line of connection) {
    await connection.send(line.ok ? `${line.line}\n` : refusal(line.code, line.reason));
    if (!line.ok) break;
  }
  connection.end();
}
