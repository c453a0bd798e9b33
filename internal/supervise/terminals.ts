// The terminals of one tree. A session has at most one; whoever asks for it at the same time gets the
// same. A server that comes later finds by their receipts those that an earlier one left.

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CodedError, coded, fail, objectName, sessionName } from "../abi/mod.ts";
import { sameProcess } from "../os/mod.ts";
import { Receipts } from "../receipt/mod.ts";
import { ensureRuntimeFolder } from "../tree/mod.ts";
import { terminalsMax } from "./bounds.ts";
import { createBuiltinSupervisor } from "./builtin.ts";
import { Endpoint } from "./endpoint.ts";
import { provenReceipt } from "./evidence.ts";
import { keyOf, pastFacts } from "./facts.ts";
import { type LaunchServer, openLaunchServer } from "./launch-server.ts";
import type { TerminalsOptions } from "./options.ts";
import { type Preparation, prepareTerminal } from "./prepare.ts";
import { Resource } from "./resource.ts";
import { Terminal } from "./terminal.ts";
import type { TerminalParts } from "./terminal-parts.ts";
import type { StartTerminal, Supervisor, TerminalFacts, Terminals } from "./types.ts";
import { launchSocketName } from "./wire.ts";

/** From the start of the launch to a ready terminal. Past it ETIMEDOUT and nothing is left. */
const startMsMax = 45_000;

/** Makes the folders, and takes back what an earlier server of this tree has left running. */
export async function createTerminals(options: TerminalsOptions): Promise<Terminals> {
  const { runtime, places, log } = options;
  const supervisors = [...options.supervisors, createBuiltinSupervisor()];
  // A stop believes what a receipt says.
  ensureRuntimeFolder(join(runtime, "receipt"), 0o700);
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

type OwnParts = Pick<TerminalParts, "endpoint" | "resource" | "supervisor">;

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
      .filter(({ receipt, isEnding }) => receipt.agent === agent && !isEnding)
      .map((terminal) => terminal.facts());
  }

  start(request: StartTerminal): Promise<TerminalFacts> {
    const key = keyOf(objectName("agent", request.agent), sessionName(request.session));
    const going = this.#starting.get(key);
    if (going !== undefined) return going;
    const begun = this.#start(request, key)
      .catch((error) => this.#explain(error))
      .finally(() => this.#starting.delete(key));
    this.#starting.set(key, begun);
    return begun;
  }

  /** The kernel does not say which of the disks is full. */
  #explain(error: unknown): never {
    const { code, message } = coded(error);
    if (code !== "ENOSPC") throw error;
    const { tree, places } = this.#options;
    return fail(code, `cannot start the terminal: ${message}`, {
      hint: `make room for "${tree.source}" or "${places.runtime}"`,
      cause: error,
    });
  }

  async #start(request: StartTerminal, key: string): Promise<TerminalFacts> {
    const there = this.#live.get(key);
    if (there?.isReady && isAlive(there)) return there.facts();
    await there?.makeRoom();
    if (this.#closed) fail("EHOSTDOWN", "the server is stopping");
    const { view, owner } = this.#options.view(request.agent);
    const supervisor = await this.#supervisor(owner.uid);
    this.#refuseMany(owner.uid);
    const [options, controls] = [this.#options, this.#controls];
    return await this.#launch(
      prepareTerminal({ options, request, supervisor, view, owner, controls }),
    );
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

  async #launch(prepared: Preparation): Promise<TerminalFacts> {
    const { receipt, plan, supervisor, identity, undo } = prepared;
    const { log, ctxd, runtime, limits } = this.#options;
    const terminal = new Terminal(receipt, this.#parts(prepared), plan);
    this.#live.set(terminal.key, terminal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      this.#receipts.write(receipt);
      terminal.serve();
      const { agent, session, generation, owner } = receipt;
      const starting = supervisor.start({
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
      await terminal.launched(starting);
      const { ended, pid, unit } = await starting;
      void ended?.then((words) => terminal.neverAsked(words));
      log("terminal.start", { id: receipt.id, supervisor: supervisor.name, pid, unit });
      const late = new Promise<never>((_, reject) => {
        const message = `the terminal was not ready after ${startMsMax} ms`;
        timer = setTimeout(() => reject(new CodedError("ETIMEDOUT", message)), startMsMax);
      });
      const risen = await Promise.race([terminal.risen.promise, late]);
      if (risen === "ready" && !terminal.isEnding) return terminal.facts();
      // It ran and is over, before anybody looked.
      await terminal.ended.promise;
      return pastFacts(this.#options, receipt);
    } catch (error) {
      await terminal.abandon(undo);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async stop(agent: string, session: string): Promise<TerminalFacts> {
    const { log } = this.#options;
    const terminal = this.terminal(agent, session);
    if (terminal !== undefined) {
      const { receipt } = terminal;
      const starting = receipt.ready ? undefined : this.#starting.get(terminal.key);
      const { cwd } = terminal.facts();
      await terminal.stop();
      const never = { ...terminal.facts(), cwd, state: "exited" } as const;
      // It never was: what the resource says is of one before.
      if ((await starting?.catch(() => "none")) === "none") return never;
      try {
        return pastFacts(this.#options, receipt);
      } catch (error) {
        // It has ended all the same; its owner has taken away what would say how.
        log("terminal.untidy", { id: receipt.id, message: coded(error).message });
        return { ...never, state: "lost" };
      }
    }
    const { owner } = this.#options.view(agent);
    return pastFacts(this.#options, { agent, session, owner: owner.uid });
  }

  /** Finds by receipt what an earlier server left: what lives goes on, what is gone is written down. */
  async recover(): Promise<void> {
    const { tree, places, runtime, ownerOf, log, supervisors } = this.#options;
    const { receipts: all, broken } = this.#receipts.all();
    for (const { name, reason } of broken) log("receipt.broken", { name, reason });
    // What a receipt names is removed at the end, so none names more than its own.
    const receipts = all.filter(({ id, control, generation }) => {
      if (control === join(this.#controls, generation)) return true;
      log("receipt.broken", { name: id, reason: `"control" is not its own folder` });
      return false;
    });
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
      const proven = provenReceipt(receipt);
      const terminal = new Terminal(proven, this.#parts({ endpoint, resource, supervisor }));
      // An earlier server may not have heard that its program has ended: the launch has written it down.
      terminal.isEnding = saysExited(resource);
      this.#live.set(terminal.key, terminal);
      const resumed = this.#resume(terminal).catch((error) => {
        log("receipt.failed", { id: receipt.id, message: coded(error).message });
      });
      // An end may take its time; whoever asks for that terminal waits for it.
      if (!terminal.isStopping) await resumed;
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

  #parts({ endpoint, resource, supervisor }: OwnParts): TerminalParts {
    const { service, now, log } = this.#options;
    return {
      ...{ endpoint, resource, supervisor, receipts: this.#receipts, service, now, log },
      isTaken: (id, by) =>
        [...this.#live.values()].some((one) => one !== by && one.receipt.id === id),
      over: (terminal) => {
        if (this.#live.get(terminal.key) === terminal) this.#live.delete(terminal.key);
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const starting = [...this.#starting.keys()].flatMap((key) => this.#live.get(key) ?? []);
    await Promise.allSettled(starting.map((terminal) => terminal.stop()));
    await Promise.allSettled([...this.#starting.values()]);
    await Promise.allSettled([...this.#live.values()].map((terminal) => terminal.letGo()));
  }
}

/** What its owner has made of the file is no word of an end. */
function saysExited(resource: Resource): boolean {
  try {
    return resource.state() === "exited";
  } catch {
    return false;
  }
}

function isAlive({ receipt: { launch, root } }: Terminal): boolean {
  return launch !== undefined && root !== undefined && sameProcess(launch) && sameProcess(root);
}
