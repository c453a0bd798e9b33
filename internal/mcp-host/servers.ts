// The servers of all runs. A server belongs to one run and to what its agent may see at the time: a
// call that is to see something else gets another one.

import { fail } from "../abi/mod.ts";
import { acceptedDefinition } from "../install/mod.ts";
import {
  type LaunchIo,
  type LaunchRequest,
  refusalOf,
  refuseChangedCall,
  viewDigest,
} from "../launch/mod.ts";
import { runServersMax, serverEndMs } from "./bounds.ts";
import { ToolServer } from "./server.ts";
import type { ServedOutcome, ToolServers, ToolServersOptions } from "./types.ts";

export function createToolServers(options: ToolServersOptions): ToolServers {
  return new Servers(options, ({ tool }) => acceptedDefinition(options.tree, tool));
}

export class Servers implements ToolServers {
  readonly #options: ToolServersOptions;
  /** By run, then by the server's locator. */
  readonly #runs = new Map<string, Map<string, ToolServer>>();
  readonly #ending = new Set<Promise<void>>();
  readonly #accepted: (request: LaunchRequest) => string;
  #closed = false;

  /** `accepted`: the SHA-256 of the definition that a person has installed; throws without one. */
  constructor(options: ToolServersOptions, accepted: (request: LaunchRequest) => string) {
    this.#options = options;
    this.#accepted = accepted;
  }

  async call(request: LaunchRequest, io: LaunchIo): Promise<ServedOutcome> {
    try {
      // A run that is over may have had this call on its way: its server would be ended by nobody.
      if (io.signal.aborted) fail("ECANCELED", "stopped: cancelled");
      refuseChangedCall(this.#options.launcher, request);
      const definition = this.#accepted(request);
      return await this.#of(request).call(request, definition, io);
    } catch (error) {
      const { code, message } = refusalOf(error);
      // No longer than a line of the wire, which is less than an output may have.
      const said = { code, output: message, dropped: 0, exit: undefined, newGit: [], kept: [] };
      return { status: "error", ...said };
    }
  }

  async over(run: string): Promise<void> {
    const servers = this.#runs.get(run);
    if (servers === undefined) return;
    this.#runs.delete(run);
    // What cannot be ended dies with the host; whoever waits for this has nothing to do about it.
    await Promise.allSettled([...servers.values()].map((server) => this.#end(server, serverEndMs)));
  }

  async close(): Promise<void> {
    this.#closed = true;
    const servers = [...this.#runs.values()].flatMap((each) => [...each.values()]);
    this.#runs.clear();
    await Promise.allSettled([...servers.map((server) => this.#end(server, 0)), ...this.#ending]);
  }

  #of(request: LaunchRequest): ToolServer {
    const { run, tool } = request;
    if (this.#closed) fail("ECANCELED", "the host is ending");
    if (tool.mcp === undefined) throw new TypeError(`tool "${tool.name}" is of no server`);
    const servers = this.#runs.get(run) ?? new Map<string, ToolServer>();
    this.#runs.set(run, servers);
    const key = JSON.stringify([tool.mcp.config, tool.mcp.server]);
    const view = servedView(request);
    const known = servers.get(key);
    if (known?.view === view) return known;
    if (known !== undefined) {
      servers.delete(key);
      void this.#end(known, serverEndMs).catch(() => undefined);
    }
    if (servers.size >= runServersMax) {
      fail("busy", `${runServersMax} servers serve this run, which is all it may have`);
    }
    const made = new ToolServer(this.#options, tool.mcp, view);
    servers.set(key, made);
    return made;
  }

  #end(server: ToolServer, graceMs: number): Promise<void> {
    const ending = server.end(graceMs);
    this.#ending.add(ending);
    return ending.finally(() => this.#ending.delete(ending));
  }
}

/** By the agent's controls, which stay the same object while nothing of them changes. */
const views = new WeakMap<LaunchRequest["controls"], Map<string, string>>();

/**
 * What a server that is up must still see for another call: folders, identity, network, environment.
 * Which tools and models its sandbox shows is no part of it, since it can use none of them.
 */
function servedView({ agent, controls, home, network, workspace }: LaunchRequest): string {
  const known = views.get(controls) ?? new Map<string, string>();
  views.set(controls, known);
  const around = JSON.stringify([agent, home, network, workspace]);
  const view =
    known.get(around) ??
    viewDigest({ agent, controls, home, network, workspace, visible: [], models: [] });
  known.set(around, view);
  return view;
}
