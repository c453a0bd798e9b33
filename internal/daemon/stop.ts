// The clean stop, in order: nothing new, runs closed as `interrupted`, sandboxes gone, last frames
// out, sockets and lock given back. Each part has a bound, so that the whole takes under five seconds;
// what does not make it is what recovery after a kill takes care of.

import { coded } from "../abi/mod.ts";
import type { Connection, LineServer } from "../sock/mod.ts";
import type { AgentSockets } from "./agents.ts";
import { faultFields, type Log } from "./log.ts";
import type { Services } from "./services.ts";

/** Time for running runs to be closed as interrupted. Past it recovery does it. */
const sessionsCloseMs = 3500;

/** Time to end what is being started; terminals that are up stay. Past it the next server ends it. */
const terminalsCloseMs = 300;

/** Time for the servers of tools, which are not asked to end by themselves here. */
const serversCloseMs = 400;

/** Time for what is left of sandboxes after that. Past it they die with the process. */
const launcherCloseMs = 700;

/** Time for last frames to reach their clients. Past it connections are cut. */
const connectionsCloseMs = 500;

export interface Running extends Services {
  readonly log: Log;
  readonly agents: AgentSockets;
  readonly control: LineServer;
  readonly connections: ReadonlySet<Connection>;
  /** Aborted here first. */
  readonly stopping: AbortController;
  /** Gives back the lock and the tree. */
  release(): void;
}

/** The clean stop. Runs that are cut here are closed as `interrupted`, as recovery would. */
export async function takeApart(running: Running): Promise<void> {
  const { log, agents, control } = running;
  running.stopping.abort();
  log("stopping");
  agents.stop();
  control.stop();
  await settleWithin(running.sessions.close(), sessionsCloseMs, "sessions", log);
  await settleWithin(running.terminals.close(), terminalsCloseMs, "terminals", log);
  await settleWithin(running.servers.close(), serversCloseMs, "servers", log);
  await settleWithin(running.launcher.close(), launcherCloseMs, "launcher", log);
  // Streams end by themselves once their runs are closed; a client that does not read is cut.
  const gone = Promise.all([...running.connections].map(({ closed }) => closed));
  await settleWithin(gone, connectionsCloseMs, "connections", log);
  agents.close();
  control.close();
  running.sockets.close();
  running.release();
  log("stopped");
}

/** Waits for the end of a part; a part that fails or takes too long is named and left behind. */
async function settleWithin(
  work: Promise<unknown>,
  waitMs: number,
  part: string,
  log: Log,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), waitMs);
  });
  try {
    if ((await Promise.race([work, late])) === "late") log("stop.late", { part });
  } catch (error) {
    log("stop.failed", { part, ...faultFields(coded(error)) });
  } finally {
    clearTimeout(timer);
  }
}
