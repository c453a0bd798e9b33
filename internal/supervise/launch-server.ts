// The server's side of launch.sock: takes each launch to the terminal whose ticket it shows, if the
// kernel says that it has that terminal's uid, and hands over what it says. One launch a ticket.

import { closeSync } from "node:fs";
import { coded } from "../abi/mod.ts";
import { openPath, type ProcessStamp, processFacts } from "../os/mod.ts";
import { type Connection, firstLine, type LineServer, listenLines } from "../sock/mod.ts";
import { terminalsMax } from "./bounds.ts";
import {
  decodeLaunchLine,
  encodeLine,
  isSameVersion,
  type LaunchSays,
  launchLineBytesMax,
  launchSocketName,
  type ServerSays,
} from "./wire.ts";

/** Connections at a time, over all users. Past it the next one is refused and tries again. */
const launchConnectionsMax = 512;

/** Connections of one uid at a time: its terminals, and as many that end. Past it the same. */
const launchesOfUserMax = 2 * terminalsMax;

/** What the server has of one launch. */
export interface LaunchPeer {
  readonly stamp: ProcessStamp;
  say(message: ServerSays): void;
  /** Cuts the connection; the launch, if it is past its gate, comes again. */
  cut(): void;
}

export interface LaunchTaker {
  readonly owner: number;
  /** Gives who hears what the launch says from now on, or why it is not wanted. */
  take(first: "hello" | "again", peer: LaunchPeer): LaunchListener | string;
}

export interface LaunchListener {
  says(message: LaunchSays): void;
  gone(): void;
}

export interface LaunchServerOptions {
  readonly runtime: string;
  /** Launches of other uids connect. */
  readonly system: boolean;
  find(ticket: string): LaunchTaker | undefined;
  onFault(error: unknown): void;
}

export interface LaunchServer {
  close(): void;
}

export function openLaunchServer(options: LaunchServerOptions): LaunchServer {
  const folder = openPath(options.runtime, "folder");
  const stopping = new AbortController();
  const open = new Map<number, number>();
  const count = (uid: number, by: number) => {
    const now = (open.get(uid) ?? 0) + by;
    if (now === 0) open.delete(uid);
    else open.set(uid, now);
    return now;
  };
  let server: LineServer;
  try {
    server = listenLines({
      folder,
      name: launchSocketName,
      lineBytesMax: launchLineBytesMax,
      connectionsMax: launchConnectionsMax,
      ...(options.system ? { mode: 0o666 } : {}),
      refusal: (_code, message) => encodeLine({ type: "refused", message }),
      onConnection(connection) {
        const { uid } = connection.peer;
        const many = count(uid, 1) > launchesOfUserMax;
        void connection.closed.then(() => count(uid, -1));
        if (many) return connection.destroy();
        void serve(connection, options, stopping.signal).catch((error) => {
          options.onFault(coded(error));
          connection.destroy();
        });
      },
    });
  } catch (error) {
    closeSync(folder);
    throw error;
  }
  return {
    close() {
      stopping.abort();
      server.close();
      closeSync(folder);
    },
  };
}

async function serve(
  connection: Connection,
  options: LaunchServerOptions,
  stopping: AbortSignal,
): Promise<void> {
  const line = await firstLine(connection, stopping);
  const first = line?.ok ? decodeLaunchLine(line.line) : undefined;
  const refuse = (message: string) => {
    void connection.send(encodeLine({ type: "refused", message }));
    connection.end();
  };
  if (first?.type !== "hello" && first?.type !== "again") return refuse("it shows no ticket");
  if (!isSameVersion(first.version)) {
    return refuse("ctxd and the tree's programs are of different versions; run ctx bootstrap");
  }
  const taker = options.find(first.ticket);
  const { pid, uid } = connection.peer;
  // Whoever may not have it is not told whether there is such a ticket.
  if (taker === undefined || uid !== taker.owner) return refuse("its ticket is not known");
  const facts = processFacts(pid);
  if (facts === undefined) return refuse("it has ended");
  const listener = taker.take(first.type, {
    stamp: { pid, startTime: facts.startTime },
    say: (message) => void connection.send(encodeLine(message)),
    cut: () => connection.destroy(),
  });
  if (typeof listener === "string") return refuse(listener);
  try {
    for await (const next of connection) {
      const said = next.ok ? decodeLaunchLine(next.line) : undefined;
      if (said === undefined) break;
      listener.says(said);
    }
  } finally {
    connection.end();
    listener.gone();
  }
}
