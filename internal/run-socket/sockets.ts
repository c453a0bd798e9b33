// The capability sockets of a server: in the folder of a session one socket while a run of it is open.
// The folder is what a sandbox gets to see, so it holds nothing else.

import { chmodSync, closeSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { capabilityLineBytesMax } from "../capability/mod.ts";
import { openPath } from "../os/mod.ts";
import { listenLines } from "../sock/mod.ts";
import { Attempts } from "./attempts.ts";
import { runConnectionsMax } from "./bounds.ts";
import { Places } from "./places.ts";
import { refusalLine } from "./refusal.ts";
import { type Owner, type Served, serveConnection } from "./serve.ts";
import { Turns } from "./turns.ts";
import type { RunSocket, RunSockets, RunSocketsOptions } from "./types.ts";

/** Name of the socket in a run's folder. */
export const controlSocketName = "control.sock";

/** Whoever holds the tree's runtime folder may call this; what an earlier server left is removed. */
export function createRunSockets(options: RunSocketsOptions): RunSockets {
  const base = join(options.runtime, "capability");
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base);
  // Each agent searches it for its own folder and lists nothing.
  chmodSync(base, 0o711);
  const places = new Places(base);
  const turns = new Turns();
  return {
    place: (place) => places.of(place),
    lease: (place, run) => places.lease(place, run),
    release: (run) => places.release(run),
    open(run) {
      const release = places.use(run.folder, run.run);
      try {
        return openSocket(options, { kind: "run", run }, { release, turns });
      } catch (error) {
        release();
        throw error;
      }
    },
    openTerminal: (terminal) =>
      openSocket(options, { kind: "terminal", run: terminal }, { release: () => undefined, turns }),
    close: () => rmSync(base, { recursive: true, force: true }),
  };
}

interface Shared {
  readonly turns: Turns;
  release(): void;
}

function openSocket(
  options: RunSocketsOptions,
  owner: Owner,
  { turns, release }: Shared,
): RunSocket {
  const { run } = owner;
  const own = run.peerUid === process.geteuid?.();
  const folder = openPath(run.folder, "folder");
  const serving = new Set<Promise<void>>();
  const over = new AbortController();
  const served: Served = {
    owner,
    attempts: new Attempts(owner.kind),
    turns,
    over: over.signal,
    roots: () => (owner.kind === "terminal" ? owner.run.roots() : options.roots(owner.run.run)),
    onFault: (error: unknown) => options.onFault?.(error),
  };
  try {
    const server = listenLines({
      folder,
      name: controlSocketName,
      // Its mode is 0600, so the group says nothing.
      owner: own ? undefined : { uid: run.peerUid, gid: process.getegid?.() ?? 0 },
      lineBytesMax: capabilityLineBytesMax,
      connectionsMax: runConnectionsMax,
      refusal: (code, message) => refusalLine(null, { code, message }),
      onConnection(connection) {
        const done = serveConnection(connection, served);
        serving.add(done);
        void done.finally(() => serving.delete(done));
      },
    });
    let closing: Promise<void> | undefined;
    const close = async () => {
      over.abort();
      server.close();
      await Promise.allSettled(serving);
      closeSync(folder);
      release();
    };
    return {
      folder: run.folder,
      close() {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    closeSync(folder);
    throw error;
  }
}
