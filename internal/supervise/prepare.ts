// From a request to everything that a terminal's start needs on disk. What fails on the way leaves
// nothing of it.

import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TerminalPlan } from "../launch/mod.ts";
import type { FileOwner } from "../os/mod.ts";
import type { Receipt } from "../receipt/mod.ts";
import { Endpoint } from "./endpoint.ts";
import { parseMountLines } from "./mounts.ts";
import type { TerminalsOptions } from "./options.ts";
import { Resource, type TerminalMeta } from "./resource.ts";
import type { StartTerminal, Supervisor, TerminalView } from "./types.ts";

export interface Preparation {
  readonly receipt: Receipt;
  readonly plan: TerminalPlan;
  readonly endpoint: Endpoint;
  readonly resource: Resource;
  readonly supervisor: Supervisor;
  /** As whom the launch runs. */
  readonly identity: { readonly gid: number; readonly groups: readonly number[] };
  /** Puts the resource back as it was. */
  readonly undo: () => void;
}

export interface PrepareInput {
  readonly options: TerminalsOptions;
  readonly request: StartTerminal;
  readonly supervisor: Supervisor;
  readonly view: TerminalView;
  readonly owner: FileOwner;
  /** The folder for the folders of capability sockets. */
  readonly controls: string;
}

export function prepareTerminal(input: PrepareInput): Preparation {
  const { options, request, supervisor, view, owner } = input;
  const { tree, places, runtime, planner } = options;
  const { agent, session, cwd, mounts, command } = request;
  const generation = randomBytes(16).toString("hex");
  const endpoint = new Endpoint({ tree, places, runtime, owner, agent, session });
  const resource = new Resource(tree, owner, agent, session);
  const control = makeControl(join(input.controls, generation), owner.uid);
  try {
    const added = parseMountLines(mounts);
    const named = { ...view, agent, session, control, mounts: added, command };
    const plan = planner.planTerminal({ ...named, ...(cwd === undefined ? {} : { cwd }) });
    const receipt = receiptOf(input, plan, { generation, control, endpoint, resource });
    endpoint.prepare();
    const undo = resource.begin(metaOf(receipt, request), plan.launch.spec.cwd);
    return { receipt, plan, endpoint, resource, supervisor, identity: view.controls, undo };
  } catch (error) {
    rmSync(control, { recursive: true, force: true });
    endpoint.withdraw();
    throw error;
  }
}

/** The folder that the sandbox sees at /run/cortexfs; a new one, since an old one may be bound yet. */
function makeControl(path: string, uid: number): string {
  mkdirSync(path);
  chmodSync(path, uid === process.geteuid?.() ? 0o700 : 0o711);
  return path;
}

interface Made {
  readonly generation: string;
  readonly control: string;
  readonly endpoint: Endpoint;
  readonly resource: Resource;
}

function receiptOf(
  { options, request: { agent, session }, supervisor, owner }: PrepareInput,
  { workspace, view }: TerminalPlan,
  { generation, control, endpoint, resource }: Made,
): Receipt {
  return {
    ...{ kind: "terminal", id: `terminal-${agent}-${session}`, agent, session },
    ...{ scope: "private", owner: owner.uid, generation, supervisor: supervisor.name },
    ...{ socket: endpoint.socket, control, folder: resource.folder },
    ...(workspace === undefined ? {} : { workspace }),
    ...{ view, ready: false, started_at: options.now().toISOString() },
  };
}

function metaOf(receipt: Receipt, { command, mounts }: StartTerminal): TerminalMeta {
  const { kind, id, agent, session, scope, generation, supervisor, socket } = receipt;
  return {
    ...{ kind, id, agent, session, scope, generation },
    ...{ command: command ?? ["/ctx/bin/tsh"], workspace: receipt.workspace ?? null, mounts },
    ...{ supervisor, unit: null, socket, started_at: receipt.started_at },
    ...{ ended_at: null, signal: null },
  };
}
