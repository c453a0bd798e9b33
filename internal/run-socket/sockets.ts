// The capability sockets of a server: a folder for each open run, named by the digest of agent and
// session, with one socket in it. The folder is what a sandbox gets to see, so it holds nothing else.

import { chmodSync, closeSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { capabilityLineBytesMax } from "../capability/mod.ts";
import { openPath } from "../os/mod.ts";
import { listenLines } from "../sock/mod.ts";
import { Attempts } from "./attempts.ts";
import { runConnectionsMax } from "./bounds.ts";
import { makeFolder, Places } from "./places.ts";
import { refusalLine, serveConnection } from "./serve.ts";
import type { OpenRun, RunSocket, RunSockets, RunSocketsOptions } from "./types.ts";

/** Name of the socket in a run's folder. */
export const controlSocketName = "control.sock";

/** Whoever holds the tree's runtime folder may call this; what an earlier server left is removed. */
export function createRunSockets(options: RunSocketsOptions): RunSockets {
  const base = join(options.runtime, "capability");
  rmSync(base, { recursive: true, force: true });
  mkdirSync(base);
  // Each agent searches it for its own folder and lists nothing.
  chmodSync(base, 0o711);
  const taken = new Set<string>();
  const places = new Places(base);
  return {
    place: (place) => places.of(place),
    open(run) {
      if (run.folder !== undefined) {
        const done = places.use(run.folder);
        try {
          return openRun(options, run, run.folder, done);
        } catch (error) {
          done();
          throw error;
        }
      }
      const name = freeName(run, taken);
      taken.add(name);
      try {
        return openRun(options, run, join(base, name), () => taken.delete(name));
      } catch (error) {
        taken.delete(name);
        throw error;
      }
    },
  };
}

/** Runs of one session in two scopes can be open at once; then the later one has a number. */
function freeName({ agent, session }: OpenRun, taken: ReadonlySet<string>): string {
  const digest = new Bun.CryptoHasher("sha256").update(`${agent}\0${session}`).digest("hex");
  const name = digest.slice(0, 32);
  for (let count = 1; ; count++) {
    const numbered = count === 1 ? name : `${name}-${count}`;
    if (!taken.has(numbered)) return numbered;
  }
}

function openRun(
  options: RunSocketsOptions,
  run: OpenRun,
  path: string,
  onRemoved: () => void,
): RunSocket {
  const own = run.peerUid === process.geteuid?.();
  const remove = () => {
    if (run.folder === undefined) rmSync(path, { recursive: true, force: true });
  };
  if (run.folder === undefined) makeFolder(path, run.peerUid);
  const folder = openPath(path, "folder");
  const serving = new Set<Promise<void>>();
  const served = {
    run,
    attempts: new Attempts(),
    roots: () => options.roots(run.run),
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
      server.close();
      await Promise.allSettled(serving);
      closeSync(folder);
      remove();
      onRemoved();
    };
    return {
      folder: path,
      close() {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    closeSync(folder);
    remove();
    throw error;
  }
}
