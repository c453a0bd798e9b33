// The terminals of one tree. A session has at most one; whoever asks for it at the same time gets the
// same. A server that comes later finds by their receipts those that an earlier one left.

import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CodedError, coded, fail, objectName, sessionName } from "../abi/mod.ts";
import type { TerminalPlan } from "../launch/mod.ts";
import { sameProcess } from "../os/mod.ts";
import { type Receipt, Receipts } from "../receipt/mod.ts";
import { ensureRuntimeFolder } from "../tree/mod.ts";
import { createBuiltinSupervisor } from "./builtin.ts";
import { Endpoint } from "./endpoint.ts";
import { type LaunchServer, openLaunchServer } from "./launch-server.ts";
import { parseMountLines } from "./mounts.ts";
import type { TerminalsOptions } from "./options.ts";
import { Resource, type TerminalMeta } from "./resource.ts";
import { keyOf, Terminal, type TerminalParts } from "./terminal.ts";
import type { StartTerminal, Supervisor, TerminalFacts, Terminals } from "./types.ts";
import { launchSocketName } from "./wire.ts";

/** Terminals of one user that live at a time. Past it `busy`. */
export const terminalsMax = 8;

/** From the start of the launch to a ready terminal. Past it ETIMEDOUT and nothing is left. */
const startMsMax = 45_000;

/** Makes the folders, and takes back what an earlier server of this tree has left running. */
export async function createTerminals(options: TerminalsOptions): Promise<Terminals> {
  const { runtime, places, log } = options;
  const supervisors = [...options.supervisors, createBuiltinSupervisor()];
  const receipts = new Receipts(join(runtime, "receipt"));
  const controls = join(runtime, "terminal-control");
  ensureRuntimeFolder(controls, places.mode === "system" ? 0o711 : 0o700);
  const service = new Service({ ...options, supervisors }, receipts, controls);
  let server: LaunchServer;
  try {
    server = openLaunchServer({
      runtime,
      system: places.mode === "system",
      find: (ticket) => service.find(ticket),
      onFault: (error) => log("launch.failed", { message: coded(error).message }),
    });
  } catch (error) {
    receipts.close();
    throw error;
  }
  await service.recover();
  return {
    start: (request) => service.start(request),
    stop: (agent, session) => service.stop(agent, session),
    list: (agent) => service.list(agent),
    ready: (agent, session) => service.terminal(agent, session)?.forCalls(),
    async close() {
      await service.close();
      server.close();
      receipts.close();
    },
  };
}

class Service {
  readonly #options: TerminalsOptions;
  readonly #receipts: Receipts;
  readonly #controls: string;
  readonly #live = new Map<string, Terminal>();
  readonly #starting = new Map<string, Promise<TerminalFacts>>();
  #closed = false;

  constructor(options: TerminalsOptions, receipts: Receipts, controls: string) {
    this.#options = options;
    this.#receipts = receipts;
    this.#controls = controls;
  }

  terminal(agent: string, session: string): Terminal | undefined {
    return this.#live.get(keyOf(agent, session));
  }

  find(ticket: string) {
    const found = [...this.#live.values()].find(({ receipt }) => receipt.generation === ticket);
    if (found === undefined) return undefined;
    return { owner: found.receipt.owner, take: found.take.bind(found) };
  }

  list(agent: string): TerminalFacts[] {
    return [...this.#live.values()]
      .filter(({ receipt }) => receipt.agent === agent)
      .map((terminal) => terminal.facts());
  }

  start(request: StartTerminal): Promise<TerminalFacts> {
    const key = keyOf(objectName("agent", request.agent), sessionName(request.session));
    const going = this.#starting.get(key);
    if (going !== undefined) return going;
    const begun = this.#start(request, key).finally(() => this.#starting.delete(key));
    this.#starting.set(key, begun);
    return begun;
  }

  async #start(request: StartTerminal, key: string): Promise<TerminalFacts> {
    const there = this.#live.get(key);
    if (there?.isReady && isAlive(there)) return there.facts();
    // One that ends now makes room for its successor.
    if (there?.isReady) await there.ended.promise;
    else await there?.stop();
    if (this.#closed) fail("EHOSTDOWN", "the server is stopping");
    const { view, owner } = this.#options.view(request.agent);
    const supervisor = await this.#supervisor(owner.uid);
    this.#refuseMany(owner.uid);
    const prepared = this.#prepare(request, supervisor, view, owner);
    return await this.#launch(prepared, supervisor);
  }

  #refuseMany(uid: number): void {
    const count = [...this.#live.values()].filter(({ receipt }) => receipt.owner === uid).length;
    if (count < terminalsMax) return;
    fail("busy", `uid ${uid} has ${terminalsMax} terminals, which is all it may have`, {
      hint: "stop one with ctx agent stop",
    });
  }

  async #supervisor(uid: number): Promise<Supervisor> {
    for (const one of this.#options.supervisors) {
      if ((await one.usable?.(uid)) ?? true) return one;
    }
    return fail("EHOSTDOWN", "nobody on this host can supervise a terminal");
  }

  #prepare(
    { agent, session, cwd, mounts, command }: StartTerminal,
    supervisor: Supervisor,
    view: ReturnType<TerminalsOptions["view"]>["view"],
    owner: ReturnType<TerminalsOptions["view"]>["owner"],
  ): Prepared {
    const { tree, places, runtime, planner, now } = this.#options;
    const generation = randomBytes(16).toString("hex");
    const id = `terminal-${agent}-${session}`;
    const endpoint = new Endpoint({ tree, places, runtime, owner, agent, session });
    const resource = new Resource(tree, owner, agent, session);
    const control = this.#makeControl(generation, owner.uid);
    try {
      const added = parseMountLines(mounts);
      const named = { ...view, agent, session, control, mounts: added, command };
      const plan = planner.planTerminal({ ...named, ...(cwd === undefined ? {} : { cwd }) });
      const { workspace } = plan;
      const started_at = now().toISOString();
      const receipt: Receipt = {
        ...{ kind: "terminal", id, agent, session, scope: "private", owner: owner.uid },
        ...{ generation, supervisor: supervisor.name, socket: endpoint.socket, control },
        folder: resource.folder,
        ...(workspace === undefined ? {} : { workspace }),
        ...{ view: plan.view, ready: false, started_at },
      };
      const meta: TerminalMeta = {
        ...{ kind: "terminal", id, agent, session, scope: "private", generation },
        ...{ command: command ?? ["/ctx/bin/tsh"], workspace: workspace ?? null, mounts },
        ...{ supervisor: supervisor.name, unit: null, socket: endpoint.socket },
        ...{ started_at, ended_at: null, signal: null },
      };
      endpoint.prepare();
      const undo = resource.begin(meta, plan.launch.spec.cwd);
      const terminal = new Terminal(receipt, this.#parts({ endpoint, resource, supervisor }), plan);
      return { terminal, plan, undo, identity: view.controls };
    } catch (error) {
      endpoint.withdraw();
      rmSync(control, { recursive: true, force: true });
      throw error;
    }
  }

  async #launch(prepared: Prepared, supervisor: Supervisor): Promise<TerminalFacts> {
    const { terminal, undo, identity } = prepared;
    const { log, ctxd, runtime, limits } = this.#options;
    const { receipt } = terminal;
    this.#live.set(terminal.key, terminal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      this.#receipts.write(receipt);
      terminal.serve();
      const { agent, session, generation, owner } = receipt;
      const { ended, pid, unit, invocation } = await supervisor.start({
        argv: [
          ...ctxd,
          "launch",
          "--socket",
          join(runtime, launchSocketName),
          "--ticket",
          generation,
        ],
        ...{ uid: owner, gid: identity.gid, groups: identity.groups, limits },
        unit: `cortexfs-terminal-${generation}`,
        description: `terminal of agent ${agent}, session ${session}`,
      });
      terminal.started({
        ...(pid === undefined ? {} : { pid }),
        ...(unit === undefined ? {} : { unit }),
        ...(invocation === undefined ? {} : { invocation }),
      });
      void ended?.then((words) => terminal.neverAsked(words));
      log("terminal.start", { id: receipt.id, supervisor: supervisor.name, pid, unit });
      const late = new Promise<never>((_, reject) => {
        const message = `the terminal was not ready after ${startMsMax} ms`;
        timer = setTimeout(() => reject(new CodedError("ETIMEDOUT", message)), startMsMax);
      });
      if ((await Promise.race([terminal.risen.promise, late])) === "ready") return terminal.facts();
      // It ran and is over, before anybody looked.
      await terminal.ended.promise;
      return this.#past(receipt);
    } catch (error) {
      await terminal.abandon(undo);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(agent: string, session: string): Promise<TerminalFacts> {
    const terminal = this.terminal(agent, session);
    if (terminal !== undefined) {
      const { receipt } = terminal;
      const starting = receipt.ready ? undefined : this.#starting.get(terminal.key);
      const { cwd } = terminal.facts();
      await terminal.stop();
      if ((await starting?.catch(() => "none")) !== "none") return this.#past(receipt);
      // It never was: what the resource says is of one before.
      return { ...terminal.facts(), cwd, state: "exited" };
    }
    const { owner } = this.#options.view(agent);
    const resource = new Resource(this.#options.tree, owner, agent, session);
    const meta = resource.meta();
    if (meta === undefined) {
      fail("ENOENT", `session "${session}" of agent "${agent}" has no terminal`, {
        hint: `start one with ctx agent start ${agent} --session ${session}`,
      });
    }
    return this.#past({ ...meta, agent, session, owner: owner.uid });
  }

  /** What the resource says of one that is over. */
  #past(of: Pick<Receipt, "agent" | "session" | "owner">): TerminalFacts {
    const { tree, places, runtime, ownerOf } = this.#options;
    const { agent, session } = of;
    const owner = ownerOf(of.owner);
    const resource = new Resource(tree, owner, agent, session);
    const endpoint = new Endpoint({ tree, places, runtime, owner, agent, session });
    const meta = resource.meta();
    if (meta === undefined) fail("ECANCELED", "the terminal was stopped while it started");
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

  /** Finds by receipt what an earlier server left: what lives goes on, what is gone is written down. */
  async recover(): Promise<void> {
    const { tree, places, runtime, ownerOf, log, supervisors } = this.#options;
    const { receipts, broken } = this.#receipts.all();
    for (const { name, reason } of broken) log("receipt.broken", { name, reason });
    const controls = new Set(receipts.map(({ control }) => control));
    for (const name of readdirSync(this.#controls)) {
      const path = join(this.#controls, name);
      if (!controls.has(path)) rmSync(path, { recursive: true, force: true });
    }
    for (const receipt of receipts) {
      const supervisor = supervisors.find(({ name }) => name === receipt.supervisor);
      if (supervisor === undefined) {
        log("receipt.unsupervised", { id: receipt.id, supervisor: receipt.supervisor });
        continue;
      }
      const { agent, session } = receipt;
      const owner = ownerOf(receipt.owner);
      const endpoint = new Endpoint({ tree, places, runtime, owner, agent, session });
      const resource = new Resource(tree, owner, agent, session);
      const terminal = new Terminal(receipt, this.#parts({ endpoint, resource, supervisor }));
      this.#live.set(terminal.key, terminal);
      try {
        await this.#resume(terminal);
      } catch (error) {
        log("receipt.failed", { id: receipt.id, message: coded(error).message });
      }
    }
  }

  async #resume(terminal: Terminal): Promise<void> {
    const { receipt } = terminal;
    if (receipt.ready && isAlive(terminal)) {
      terminal.serve();
      this.#options.log("terminal.found", { id: receipt.id, pid: receipt.launch?.pid });
      void terminal.watch();
      return;
    }
    if (!terminal.isAlive) return terminal.settle();
    // Caught in the middle of its start, of which nothing must be left.
    await terminal.stop();
  }

  #parts(own: Pick<TerminalParts, "endpoint" | "resource" | "supervisor">): TerminalParts {
    const { service, now, log } = this.#options;
    return {
      ...own,
      ...{ receipts: this.#receipts, service, now, log },
      isTaken: (id, by) =>
        [...this.#live.values()].some((one) => one !== by && one.receipt.id === id),
      over: (terminal) => {
        if (this.#live.get(terminal.key) === terminal) this.#live.delete(terminal.key);
      },
    };
  }

  /** The folder that the sandbox sees at /run/cortexfs; a new one, since an old one may be bound yet. */
  #makeControl(generation: string, uid: number): string {
    const path = join(this.#controls, generation);
    mkdirSync(path);
    chmodSync(path, uid === process.geteuid?.() ? 0o700 : 0o711);
    return path;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const starting = [...this.#starting.keys()].flatMap((key) => this.#live.get(key) ?? []);
    await Promise.allSettled(starting.map((terminal) => terminal.stop()));
    await Promise.allSettled([...this.#starting.values()]);
    await Promise.allSettled([...this.#live.values()].map((terminal) => terminal.letGo()));
  }
}

interface Prepared {
  readonly terminal: Terminal;
  readonly plan: TerminalPlan;
  readonly undo: () => void;
  readonly identity: { readonly gid: number; readonly groups: readonly number[] };
}

function isAlive({ receipt: { launch, root } }: Terminal): boolean {
  return launch !== undefined && root !== undefined && sameProcess(launch) && sameProcess(root);
}
