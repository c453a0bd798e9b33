// The agents of the tree that this server hosts: one socket and one alias each. `rescan` compares
// what is bound with what the tree holds now. An agent that cannot be read is a fault of its own;
// the others are served.

import { closeSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type CodedError, coded, fail } from "../abi/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import { type FileOwner, openPath, throughFolder } from "../os/mod.ts";
import { type Connection, type LineServer, listenLines } from "../sock/mod.ts";
import { agentNames, loadAgent, type Tree } from "../tree/mod.ts";
import { agentConnectionOptions, errorLine } from "./agent-connection.ts";
import { publishAlias, removeAlias } from "./aliases.ts";

export interface AgentFault {
  readonly agent: string;
  readonly error: CodedError;
}

export interface BoundAgent {
  readonly name: string;
  readonly owner: FileOwner;
}

export interface AgentSockets {
  readonly bound: ReadonlyMap<string, BoundAgent>;
  readonly faults: readonly AgentFault[];
  /**
   * Binds what is new and what lost its socket's file, unbinds what is gone; open connections of an
   * unbound agent go on.
   */
  rescan(): void;
  /** Accepts no more and takes sockets and aliases away; open connections stay. */
  stop(): void;
  /** Cuts what is left. */
  close(): void;
}

export interface AgentSocketsOptions {
  readonly tree: Tree;
  /** `<treeRuntime>/agent`, which exists. */
  readonly folder: string;
  readonly serverUid: number;
  onConnection(agent: BoundAgent, connection: Connection): void;
}

interface Binding extends BoundAgent {
  readonly server: LineServer;
}

export function openAgentSockets(options: AgentSocketsOptions): AgentSockets {
  const { tree } = options;
  const folder = openPath(options.folder, "folder");
  const bound = new Map<string, Binding>();
  const retired = new Set<LineServer>();
  let faults: AgentFault[] = [];

  const unbind = (binding: Binding) => {
    const { name, server } = binding;
    // What has the socket's name now and is not ours is a successor's, and so is the alias.
    const isSucceeded = !server.inPlace && existsSync(target(options, name));
    bound.delete(name);
    server.stop();
    retired.add(server);
    if (!isSucceeded) attempt(name, () => removeAlias(tree, name, target(options, name)));
  };
  const attempt = (agent: string, run: () => void) => {
    try {
      run();
    } catch (error) {
      faults.push({ agent, error: coded(error) });
    }
  };
  const check = (name: string) => {
    const owner = ownerOf(tree, name, options.serverUid);
    const before = bound.get(name);
    if (before?.owner.uid !== owner.uid || !before.server.inPlace) {
      if (before) unbind(before);
      const agent = { name, owner };
      const server = listenLines({
        ...agentConnectionOptions,
        folder,
        name: `${name}.sock`,
        owner: options.serverUid === 0 ? owner : undefined,
        refusal: errorLine,
        onConnection: (connection) => options.onConnection(agent, connection),
      });
      bound.set(name, { ...agent, server });
    }
    publishAlias(tree, name, target(options, name));
  };

  return {
    bound,
    get faults() {
      return faults;
    },
    rescan() {
      faults = [];
      const names = agentNames(tree);
      for (const binding of [...bound.values()]) {
        if (!names.includes(binding.name)) unbind(binding);
      }
      for (const name of names) attempt(name, () => check(name));
    },
    stop() {
      for (const binding of [...bound.values()]) unbind(binding);
    },
    close() {
      this.stop();
      for (const server of retired) server.close();
      retired.clear();
      closeSync(folder);
    },
  };
}

function target(options: AgentSocketsOptions, name: string): string {
  return join(options.folder, `${name}.sock`);
}

/** Who owns the agent's socket and its sessions. Throws what makes the agent unservable. */
function ownerOf(tree: Tree, name: string, serverUid: number): FileOwner {
  const controls = loadAgent(tree, name);
  if (serverUid !== 0 && controls.owner !== serverUid) {
    fail("EACCES", `agent "${name}" belongs to uid ${controls.owner}, the server is ${serverUid}`, {
      hint: "serve the tree as root, or as the agent's owner",
    });
  }
  return fileOwner(tree, controls);
}

/** Files of the owner carry the group of the owner's home in the tree. */
export function fileOwner(tree: Tree, controls: Pick<AgentControls, "owner" | "gid">): FileOwner {
  const home = statSync(throughFolder(tree.folder, `home/${controls.owner}`), {
    throwIfNoEntry: false,
  });
  return { uid: controls.owner, gid: home?.gid ?? controls.gid };
}
