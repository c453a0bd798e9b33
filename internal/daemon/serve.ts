// Puts one server together: tree, folders, lock, services, sockets, in the order in which each may
// rely on the ones before. What fails on the way undoes what was done.

import { coded } from "../abi/mod.ts";
import { controlLineBytesMax } from "../client/mod.ts";
import { type Connection, type LineServer, listenLines } from "../sock/mod.ts";
import { openTree, type Tree } from "../tree/mod.ts";
import { admit } from "./admit.ts";
import { errorLine, serveAgentConnection } from "./agent-connection.ts";
import { type AgentSockets, openAgentSockets } from "./agents.ts";
import {
  type ControlService,
  controlErrorLine,
  serveControlConnection,
} from "./control-connection.ts";
import { takeServerLock } from "./lock.ts";
import { faultFields, type Log } from "./log.ts";
import { type Collector, createCollector } from "./memory.ts";
import type { Parts } from "./parts.ts";
import {
  makeRuntimeFolders,
  type RuntimeFolders,
  refuseForeignServer,
  withFolder,
} from "./places.ts";
import { connectionsMax } from "./room.ts";
import { createServices, type Services, type ServicesOptions } from "./services.ts";
import { takeApart } from "./stop.ts";

export type ServeOptions = ServicesOptions;

export interface Daemon {
  readonly agents: readonly string[];
  readonly faults: AgentSockets["faults"];
  rescan(): void;
  /** The clean stop; the same promise for every caller. Never rejects. */
  stop(): Promise<void>;
  /** Resolves when the server has stopped, whoever asked for it. */
  readonly stopped: Promise<void>;
}

/** Throws what keeps the server from starting; nothing is left behind then. */
export async function serve(options: ServeOptions, given: Partial<Parts> = {}): Promise<Daemon> {
  const undo: (() => void)[] = [];
  try {
    return await start(options, given, undo);
  } catch (error) {
    for (const step of undo.reverse()) step();
    throw error;
  }
}

async function start(
  options: ServeOptions,
  given: Partial<Parts>,
  undo: (() => void)[],
): Promise<Daemon> {
  const { places, log } = options;
  const tree = openTree(places.source);
  undo.push(() => tree.close());
  const folders = makeRuntimeFolders(places);
  const lock = takeServerLock(folders.tree, tree.source);
  undo.push(() => lock.release());
  await refuseForeignServer(tree, folders);
  const services = await createServices(options, tree, folders.tree, given);
  undo.push(() => services.sockets.close());
  undo.push(() => void services.terminals.close());
  const state: State = {
    options,
    tree,
    ...services,
    connections: new Set(),
    stopping: new AbortController(),
    collector: createCollector(),
  };
  const agents = openAgents(state, folders);
  undo.push(() => agents.close());
  const rescan = rescanAndLog(agents, log);
  rescan();

  const stopped = Promise.withResolvers<void>();
  const stop = (): Promise<void> => {
    if (state.stopping.signal.aborted) return stopped.promise;
    const release = () => {
      unwatch();
      state.collector.close();
      lock.release();
      tree.close();
    };
    takeApart({ ...state, log, agents, control, release })
      .catch((error) => log("stop.failed", faultFields(coded(error))))
      .finally(stopped.resolve);
    return stopped.promise;
  };
  const unwatch = lock.watch(() => {
    log("lock.lost", { runtime: folders.tree });
    void stop();
  });
  undo.push(unwatch);
  const service: ControlService = {
    source: tree.source,
    serverUid: places.uid,
    agents,
    sessions: services.sessions,
    stopping: state.stopping.signal,
    rescan,
    stop: () => void stop(),
  };
  const control = openControl(state, folders.tree, service);
  return {
    get agents() {
      return [...agents.bound.keys()];
    },
    get faults() {
      return agents.faults;
    },
    rescan,
    stop,
    stopped: stopped.promise,
  };
}

/** A client may ask for it as often as it likes; the log says what changed. */
function rescanAndLog(agents: AgentSockets, log: Log): () => void {
  let said = "";
  return () => {
    agents.rescan();
    const served = [...agents.bound.keys()].sort().join(" ");
    const faults = agents.faults.map(({ agent, error }) => ({ agent, ...faultFields(error) }));
    const now = JSON.stringify([served, faults]);
    if (now === said) return;
    said = now;
    log("agents", { served });
    for (const fault of faults) log("agent.fault", fault);
  };
}

interface State extends Services {
  readonly options: ServeOptions;
  readonly tree: Tree;
  readonly connections: Set<Connection>;
  readonly collector: Collector;
  /** Aborted from the moment the server stops. */
  readonly stopping: AbortController;
}

/** False when the process has no room for it; the peer is told and the connection closed. */
function track({ connections, options, collector }: State, connection: Connection): boolean {
  if (connections.size >= connectionsMax()) {
    connection.send(errorLine("busy", "the server has no room for another connection"));
    connection.destroy();
    return false;
  }
  connections.add(connection);
  void connection.closed.then((reason) => {
    connections.delete(connection);
    collector.touch();
    if (reason === "slow_consumer") options.log("connection.slow", { peer: connection.peer.pid });
  });
  return true;
}

function openAgents(state: State, folders: RuntimeFolders): AgentSockets {
  const { tree, server, sessions, terminals, options } = state;
  return openAgentSockets({
    tree,
    folder: folders.agents,
    serverUid: options.places.uid,
    onConnection({ name: agent, owner: { uid: owner } }, connection) {
      if (!track(state, connection)) return;
      void serveAgentConnection(connection, {
        agent,
        owner,
        sessions,
        terminals,
        stopping: state.stopping.signal,
        admit: (request) => admit({ tree, server, agent, owner }, request),
        onFault: (error) => options.log("request.failed", { agent, ...faultFields(error) }),
      });
    },
  });
}

function openControl(state: State, runtime: string, service: ControlService): LineServer {
  const { places } = state.options;
  const { value, close } = withFolder(runtime, (folder) =>
    listenLines({
      folder,
      name: "ctxd.sock",
      lineBytesMax: controlLineBytesMax,
      // Any user of the host may ask the system's server whether it is there.
      ...(places.mode === "system" ? { mode: 0o666 } : {}),
      refusal: (code, message) => controlErrorLine({ code, message }),
      onConnection(connection) {
        if (!track(state, connection)) return;
        void serveControlConnection(connection, service);
      },
    }),
  );
  return {
    get connections() {
      return value.connections;
    },
    get inPlace() {
      return value.inPlace;
    },
    stop: () => value.stop(),
    close() {
      value.close();
      close();
    },
  };
}
