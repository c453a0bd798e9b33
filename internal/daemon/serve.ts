// Puts one server together and takes it apart: lock, folders, tree, sessions, sockets; and at the
// end the other way round. The only file that knows all the services.

import { CodedError, coded } from "../abi/mod.ts";
import { controlLineBytesMax } from "../client/mod.ts";
import { supplementaryGroups } from "../os/mod.ts";
import { type Connection, type LineServer, listenLines } from "../sock/mod.ts";
import { loadAgent, openTree, type Places, resolveAlias, type Tree } from "../tree/mod.ts";
import { admit } from "./admit.ts";
import { errorLine, serveAgentConnection } from "./agent-connection.ts";
import { type AgentSockets, fileOwner, openAgentSockets } from "./agents.ts";
import {
  type ControlService,
  controlErrorLine,
  serveControlConnection,
} from "./control-connection.ts";
import { type ServerLock, takeServerLock } from "./lock.ts";
import { faultFields, type Log } from "./log.ts";
import { loadParts, type Parts } from "./parts.ts";
import {
  makeRuntimeFolders,
  type RuntimeFolders,
  refuseForeignServer,
  withFolder,
} from "./places.ts";
import { connectionsMax } from "./room.ts";
import type { Settings } from "./settings.ts";

/** Time for running runs to be closed as interrupted at a clean stop. Past it recovery does it. */
export const sessionsCloseMs = 3500;

/** Time for what is left of sandboxes after that. Past it they die with the process. */
export const launcherCloseMs = 700;

/** Time for last frames to reach their clients. Past it connections are cut. */
export const connectionsCloseMs = 500;

export interface ServeOptions {
  readonly places: Places;
  readonly settings: Settings;
  /** The program that runs inside sandboxes. */
  readonly ctxBinary: string;
  readonly log: Log;
}

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
  const state: State = {
    options,
    tree,
    lock,
    ...services,
    connections: new Set(),
    stopping: new AbortController(),
  };
  const agents = openAgents(state, folders);
  undo.push(() => agents.close());
  const rescan = rescanAndLog(agents, log);
  rescan();

  const stopped = Promise.withResolvers<void>();
  const stop = (): Promise<void> => {
    if (!state.stopping.signal.aborted) {
      void takeApart(state, agents, control).then(stopped.resolve);
    }
    return stopped.promise;
  };
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

type Services = Awaited<ReturnType<typeof createServices>>;

interface State extends Services {
  readonly options: ServeOptions;
  readonly tree: Tree;
  readonly lock: ServerLock;
  readonly connections: Set<Connection>;
  /** Aborted from the moment the server stops. */
  readonly stopping: AbortController;
}

/** False when the process has no room for it; the peer is told and the connection closed. */
function track({ connections, options }: State, connection: Connection): boolean {
  if (connections.size >= connectionsMax()) {
    connection.send(errorLine("busy", "the server has no room for another connection"));
    connection.destroy();
    return false;
  }
  connections.add(connection);
  void connection.closed.then((reason) => {
    connections.delete(connection);
    if (reason === "slow_consumer") options.log("connection.slow", { peer: connection.peer.pid });
  });
  return true;
}

function openAgents(state: State, folders: RuntimeFolders): AgentSockets {
  const { tree, server, sessions, options } = state;
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
    stop: () => value.stop(),
    close() {
      value.close();
      close();
    },
  };
}

/** The clean stop. Runs that are cut here are closed as `interrupted`, as recovery would. */
async function takeApart(state: State, agents: AgentSockets, control: LineServer): Promise<void> {
  const { log } = state.options;
  state.stopping.abort();
  log("stopping");
  agents.stop();
  control.stop();
  await settleWithin(state.sessions.close(), sessionsCloseMs, "sessions", log);
  await settleWithin(state.launcher.close(), launcherCloseMs, "launcher", log);
  // Streams end by themselves once their runs are closed; a client that does not read is cut.
  const gone = Promise.all([...state.connections].map(({ closed }) => closed));
  await settleWithin(gone, connectionsCloseMs, "connections", log);
  agents.close();
  control.close();
  state.lock.release();
  state.tree.close();
  log("stopped");
}

async function createServices(
  { places, settings, ctxBinary }: ServeOptions,
  tree: Tree,
  runtime: string,
  given: Partial<Parts>,
) {
  const parts = await loadParts(given);
  const server = {
    uid: places.uid,
    groups: supplementaryGroups(),
    rootAgents: settings.rootAgents,
  };
  const launcher = parts.createLauncher({
    places,
    runtime,
    tree,
    ctxBinary,
    serverUid: places.uid,
    rootAgents: settings.rootAgents,
    parallelMax: settings.launchesParallel,
  });
  const executor = parts.createExecutor({
    tree,
    places,
    launcher,
    server,
    modelSteps: settings.modelSteps,
    toolTimeoutMs: settings.toolTimeoutMs,
  });
  const sessions = parts.createSessions({
    source: tree.source,
    runtime,
    agent: (name: string) => ({ owner: fileOwner(tree, loadAgent(tree, name)) }),
    executor,
    modelName: (agent: string) => firstModel(tree, agent),
    record: settings.record,
    idleMs: settings.sessionIdleMs,
    now: () => new Date(),
  });
  return { server, launcher, sessions };
}

/** The model that a run of the agent begins with, as frames show it. */
function firstModel(tree: Tree, agent: string): string {
  const [choice] = loadAgent(tree, agent).model;
  if (choice === undefined) return "none";
  try {
    const ref = choice.kind === "ref" ? choice.ref : resolveAlias(tree, choice.name);
    return `${ref.provider}/${ref.model}`;
  } catch (error) {
    // The run itself says what is wrong with the alias.
    if (error instanceof CodedError && choice.kind === "alias") return choice.name;
    throw error;
  }
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
