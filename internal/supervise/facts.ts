// A terminal as clients are told of it: one that lives by its receipt, one that is over by its files.

import { fail } from "../abi/mod.ts";
import type { Receipt } from "../receipt/mod.ts";
import { Endpoint } from "./endpoint.ts";
import type { TerminalsOptions } from "./options.ts";
import { Resource } from "./resource.ts";
import type { TerminalFacts } from "./types.ts";

/** What tells the terminals of a server apart. */
export function keyOf(agent: string, session: string): string {
  return `${agent}/${session}`;
}

export function livingFacts(
  receipt: Receipt,
  { endpoint, resource }: { readonly endpoint: Endpoint; readonly resource: Resource },
): TerminalFacts {
  const { id, agent, session, supervisor, started_at, workspace, unit, ready } = receipt;
  return {
    ...{ id, agent, session, state: ready ? "ready" : "starting" },
    ...{ socket: endpoint.socket, alias: endpoint.alias },
    ...{ folder: resource.folder, cwd: resource.cwd() },
    ...(workspace === undefined ? {} : { workspace }),
    supervisor,
    ...(unit === undefined ? {} : { unit }),
    started_at,
  };
}

/** Throws ENOENT when the session never had one. */
export function pastFacts(
  { tree, places, runtime, ownerOf }: TerminalsOptions,
  { agent, session, owner: uid }: Pick<Receipt, "agent" | "session" | "owner">,
): TerminalFacts {
  const owner = ownerOf(uid);
  const resource = new Resource(tree, owner, agent, session);
  const endpoint = new Endpoint({ tree, places, runtime, owner, agent, session });
  const meta = resource.meta();
  if (meta === undefined) {
    return fail("ENOENT", `session "${session}" of agent "${agent}" has no terminal`, {
      hint: `start one with ctx agent start ${agent} --session ${session}`,
    });
  }
  const status = resource.status();
  const { workspace, unit, ended_at, signal, started_at } = meta;
  return {
    ...{ id: `terminal-${agent}-${session}`, agent, session },
    state: resource.state() === "exited" ? "exited" : "lost",
    ...(status === undefined ? {} : { status }),
    ...(signal === null ? {} : { signal }),
    ...{ socket: endpoint.socket, alias: endpoint.alias, folder: resource.folder },
    cwd: resource.cwd(),
    ...(workspace === null ? {} : { workspace }),
    supervisor: meta.supervisor === "systemd" ? "systemd" : "builtin",
    ...(unit === null ? {} : { unit }),
    started_at,
    ...(ended_at === null ? {} : { ended_at }),
  };
}
