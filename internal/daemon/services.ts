// Creates the services behind the sockets from the settings, each with what it may know.

import { join } from "node:path";
import { CodedError, coded } from "../abi/mod.ts";
import { authorize, type Question, type Server, visibleTools } from "../authority/mod.ts";
import type { CallRequest } from "../capability/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import type { ToolServers } from "../mcp-host/mod.ts";
import { supplementaryGroups } from "../os/mod.ts";
import { type HostedOptions, hostedCall, usableModels } from "../run/mod.ts";
import type { Sessions } from "../session/mod.ts";
import type { SuperviseLimits, Supervisor, TerminalView } from "../supervise/mod.ts";
import type { CallingTerminal, HostedTerminal } from "../terminal-host/mod.ts";
import { loadAgent, type Places, resolveAlias, type Tree } from "../tree/mod.ts";
import { admit } from "./admit.ts";
import { fileOwner } from "./agents.ts";
import { faultFields, type Log } from "./log.ts";
import { loadParts, type Parts } from "./parts.ts";
import type { Settings } from "./settings.ts";
import { doWords, type WordService } from "./terminal-words.ts";

export interface ServicesOptions {
  readonly places: Places;
  readonly settings: Settings;
  /** The program that runs inside sandboxes. */
  readonly ctxBinary: string;
  /** The command line of ctxd itself, up to its subcommand; the program that runs when absent. */
  readonly ctxd?: readonly string[];
  /** Where this user's own systemd is, as the variables of a login say it. */
  readonly login?: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

export type Services = Awaited<ReturnType<typeof createServices>>;

export async function createServices(
  { places, settings, ctxBinary, ctxd = [process.execPath], login = {}, log }: ServicesOptions,
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
    // A session that nobody uses holds nothing.
    standbyMs: settings.sessionIdleMs,
  });
  const sockets = parts.createRunSockets({
    runtime,
    roots: (run) => launcher.live().flatMap((one) => (one.run === run ? [one.root] : [])),
    onFault: (error) => log("capability.failed", faultFields(coded(error))),
  });
  const servers = parts.createToolServers({ tree, launcher, secrets: places });
  const { toolTimeoutMs } = settings;
  const service = parts.createTerminalHost({
    ...{ sockets, tree, server, planner: launcher },
    call: terminalCall({ tree, server, servers, toolTimeoutMs }),
    word: (terminal, args, signal) => sayWord({ tree, server, sessions }, terminal, args, signal),
  });
  const executor = parts.createExecutor({
    ...{ tree, places, launcher, server, sockets, servers, terminals: service },
    modelSteps: settings.modelSteps,
    toolTimeoutMs,
    stepTimeoutMs: settings.stepTimeoutMs,
  });
  const sessions: Sessions = parts.createSessions({
    source: tree.source,
    runtime,
    agent: (name: string) => ({ owner: fileOwner(tree, loadAgent(tree, name)) }),
    executor,
    modelName: (agent: string) => firstModel(tree, agent),
    record: settings.record,
    idleMs: settings.sessionIdleMs,
    approvalTimeoutMs: settings.approvalTimeoutMs,
    now: () => new Date(),
    admit(agent, request) {
      const { workspace, cwd } = request.op === "send" ? request : noPlaces;
      const controls = loadAgent(tree, agent);
      const home = join(tree.source, "home", `${controls.owner}`, "agent", agent);
      launcher.check({ agent, controls, home, workspace, cwd });
    },
  });
  const terminals = await parts.createTerminals({
    ...{ tree, places, runtime, planner: launcher, ctxd, service, log },
    supervisors: [await systemd(places.uid, login)],
    limits: terminalLimits(settings),
    view: (agent) => viewAndOwner(tree, server, agent),
    ownerOf: (uid) => fileOwner(tree, { owner: uid, gid: uid }),
    now: () => new Date(),
  });
  return { server, launcher, sessions, sockets, service, servers, terminals };
}

/** A server for each call: a terminal has no end at which one could be ended. */
function terminalCall(options: HostedOptions & { readonly servers: ToolServers }) {
  const { tree, server, servers } = options;
  return async (
    { id, agent, session, workspace }: CallingTerminal,
    request: CallRequest,
    signal: AbortSignal,
  ) => {
    const run = `${id}.${request.request_id}`;
    const around = (controls: AgentControls) => ({
      ...{ agent, session, run, scope: { kind: "private" } as const, workspace },
      ...terminalView(tree, server, agent, controls),
    });
    try {
      return await hostedCall(options, { agent, session, run: id }, request, around, signal);
    } finally {
      void servers.over(run);
    }
  };
}

function terminalLimits(settings: Settings): SuperviseLimits {
  const { terminalMemoryMib, terminalTasks, terminalCpuPercent } = settings;
  return {
    ...(terminalMemoryMib === 0 ? {} : { memoryBytesMax: terminalMemoryMib * 1024 * 1024 }),
    ...(terminalTasks === 0 ? {} : { tasksMax: terminalTasks }),
    ...(terminalCpuPercent === 0 ? {} : { cpuPercentMax: terminalCpuPercent }),
  };
}

async function systemd(uid: number, env: ServicesOptions["login"] & object): Promise<Supervisor> {
  const [{ createSystemd }, { createBuiltinSupervisor }] = await Promise.all([
    import("../systemd/mod.ts"),
    import("../supervise/mod.ts"),
  ]);
  const builtin = createBuiltinSupervisor();
  return createSystemd({ uid, env, orphans: (receipt) => builtin.stop(receipt) });
}

function viewAndOwner(tree: Tree, server: Server, agent: string) {
  const controls = loadAgent(tree, agent);
  return { view: terminalView(tree, server, agent, controls), owner: fileOwner(tree, controls) };
}

/** What a sandbox of the agent would be now, as for a run that names no folder. */
function terminalView(
  tree: Tree,
  server: Server,
  agent: string,
  controls: AgentControls,
): TerminalView {
  const of = { tree, agent, controls, server };
  const question: Question = {
    object: { class: "network", name: "default" },
    permission: "connect",
  };
  return {
    controls,
    home: join(tree.source, "home", `${controls.owner}`, "agent", agent),
    network: authorize({ ...of, question }).verdict.allowed,
    visible: visibleTools(of).map(({ tool }) => tool),
    models: usableModels(of),
  };
}

/** Of whoever had the agent when the terminal was started, and of no later owner. */
function sayWord(
  { tree, server, sessions }: { tree: Tree; server: Server; sessions: Sessions },
  { agent, session, peerUid: owner }: HostedTerminal,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const service: WordService = {
    sessions,
    admit: (request) => admit({ tree, server, agent, owner }, request),
  };
  return doWords(service, { agent, session, args, signal });
}

/** Words for the tool shell name no folder. */
const noPlaces = { workspace: undefined, cwd: undefined };

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
