// One terminal of this server, from its start, or from its receipt, to its end. What is known of it is
// in the receipt before anything of it runs; what it comes to is in its resource files.

import { rmSync } from "node:fs";
import { CodedError, coded, fail } from "../abi/mod.ts";
import { encodeTerminalPlan, type TerminalPlan } from "../launch/mod.ts";
import type { ProcessStamp } from "../os/mod.ts";
import type { Receipt } from "../receipt/mod.ts";
import { keyOf, livingFacts } from "./facts.ts";
import type { LaunchListener, LaunchPeer } from "./launch-server.ts";
import { goneWithin, isChild, isSame, living, stampOf } from "./processes.ts";
import type { Ending } from "./recorder.ts";
import { killed } from "./resource.ts";
import { servedTerminal } from "./served-terminal.ts";
import type { TerminalParts } from "./terminal-parts.ts";
import type { ReadyTerminal, Supervised, TerminalFacts } from "./types.ts";
import { codedOf, type LaunchSays } from "./wire.ts";
import { within } from "./within.ts";

/** How often a terminal whose launch does not talk to this server is looked at. */
const watchMs = 500;

/** A launch that has said its last word is gone within this; it is looked at more often until then. */
const endingMsMax = 2000;

export class Terminal {
  receipt: Receipt;
  /** Its program has ended: nobody is to be told any more that it runs. */
  isEnding = false;
  /** How, by its launch's last word. */
  #ending: Ending | undefined;
  /** Settles when the terminal is ready, or has ended by itself before it was: "ended". */
  readonly risen = Promise.withResolvers<"ready" | "ended">();
  /** Resolves when nothing of it is left. */
  readonly ended = Promise.withResolvers<void>();
  readonly #parts: TerminalParts;
  #plan: TerminalPlan | undefined;
  #peer: LaunchPeer | undefined;
  #stopping: Promise<void> | undefined;
  /** Pending while the supervisor has not said yet what it started. */
  #launching: Promise<void> | undefined;
  #letGo = false;
  #abandoned = false;
  #over = false;
  /** The id that its capability socket is served by. */
  #open: string | undefined;

  constructor(receipt: Receipt, parts: TerminalParts, plan?: TerminalPlan) {
    this.receipt = receipt;
    this.#parts = parts;
    this.#plan = plan;
    this.risen.promise.catch(() => {});
  }

  get key(): string {
    return keyOf(this.receipt.agent, this.receipt.session);
  }

  get isReady(): boolean {
    return this.receipt.ready && !this.isEnding && !this.#over && this.#stopping === undefined;
  }

  get isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  facts(): TerminalFacts {
    return livingFacts(this.receipt, this.#parts);
  }

  /** Its capability socket is served from here on. */
  serve(): void {
    const { id, generation } = this.receipt;
    const served = this.#parts.isTaken(id, this) ? `${id}.${generation}` : id;
    this.#parts.service?.open(servedTerminal(served, () => this.receipt));
    this.#open = served;
  }

  forCalls(): ReadyTerminal | undefined {
    return this.isReady ? servedTerminal(this.receipt.id, () => this.receipt) : undefined;
  }

  /** Takes in what the supervisor says of the process that it starts. */
  launched(start: Promise<Supervised>): Promise<void> {
    const started = start.then((supervised) => this.#started(supervised));
    this.#launching = started
      .catch(() => {})
      .finally(() => {
        this.#launching = undefined;
      });
    return started;
  }

  #started({ pid, unit, invocation }: Supervised): void {
    // It was quicker to end than its supervisor to answer, and a receipt would be of nothing.
    if (this.#over) return;
    const launch = this.receipt.launch ?? stampOf(pid);
    const named = { ...(unit && { unit }), ...(invocation && { invocation }) };
    this.#record({ ...named, ...(launch && { launch }) });
    if (unit !== undefined) this.#parts.resource.setUnit(unit);
  }

  take(first: "hello" | "again", peer: LaunchPeer): LaunchListener | string {
    const { launch } = this.receipt;
    if (first === "hello") {
      if (this.#plan === undefined) return "its ticket was used before";
      if (launch !== undefined && !isSame(launch, peer.stamp)) return "it is not what was started";
      this.#record({ launch: peer.stamp });
      const { resource, endpoint } = this.#parts;
      const { folder: socketFolder } = endpoint;
      const plan = encodeTerminalPlan(this.#plan);
      // Whoever comes with the ticket later gets nothing.
      this.#plan = undefined;
      peer.say({ type: "plan", plan, socketFolder, resource: resource.folder });
    } else if (launch === undefined || !isSame(launch, peer.stamp)) {
      return "its ticket is another launch's";
    }
    this.#peer = peer;
    return {
      says: (message) => this.#hear(message),
      gone: () => {
        if (this.#peer === peer) this.#peer = undefined;
        if (!this.#letGo) void this.watch();
      },
    };
  }

  #hear(message: LaunchSays): void {
    try {
      switch (message.type) {
        case "standing":
          this.#stands(message.root, message.init);
          return;
        case "answers":
          this.#answers();
          return;
        case "ending":
          this.isEnding = true;
          return;
        case "ended":
          this.isEnding = true;
          this.#ending = message;
          this.risen.resolve("ended");
          return;
        case "failed":
          this.#fail(codedOf(message));
          return;
        default:
          this.#fail(new CodedError("EIO", "the launch said what it may not say now"));
      }
    } catch (error) {
      this.#fail(coded(error));
    }
  }

  /** The receipt names the processes before the gate opens; the kernel says that they are its own. */
  #stands(root: ProcessStamp, init: ProcessStamp): void {
    const { launch } = this.receipt;
    if (launch === undefined || !isChild(root, launch) || !isChild(init, root)) {
      fail("EACCES", "the launch names processes that are not its own");
    }
    this.#record({ root, init });
    this.#peer?.say({ type: "go" });
  }

  #answers(): void {
    if (this.receipt.ready) return;
    const { endpoint, resource, log } = this.#parts;
    endpoint.publish();
    resource.setState("ready");
    this.#record({ ready: true });
    log("terminal.ready", { id: this.receipt.id, pid: this.receipt.launch?.pid });
    this.risen.resolve("ready");
  }

  #fail(error: CodedError): void {
    this.risen.reject(error);
    if (!this.receipt.ready) return;
    this.#parts.log("terminal.failed", { id: this.receipt.id, message: error.message });
  }

  /** Until its launch talks again or nothing of it is left. */
  async watch(): Promise<void> {
    // Most that go silent have just ended.
    await goneWithin(this.#processes, endingMsMax);
    while (this.#peer === undefined && !this.#over && !this.#letGo) {
      if (this.receipt.launch !== undefined && !this.isAlive) return this.settle();
      await Bun.sleep(watchMs);
    }
  }

  get isAlive(): boolean {
    return living(this.#processes).length > 0;
  }

  get #processes(): readonly (ProcessStamp | undefined)[] {
    return [this.receipt.launch, this.receipt.root, this.receipt.init];
  }

  /** The supervisor's own word that it has ended, before it asked for its plan. */
  neverAsked(words: string): void {
    if (this.#plan === undefined) return;
    const because = words === "" ? "it ended without a word" : words;
    this.#fail(new CodedError("EHOSTDOWN", `the terminal was not launched: ${because}`));
  }

  stop(): Promise<void> {
    // One that failed may be tried again.
    this.#stopping ??= this.#stop().catch((error) => {
      this.#stopping = undefined;
      throw error;
    });
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const [{ supervisor }, launching] = [this.#parts, this.#launching];
    this.risen.reject(new CodedError("ECANCELED", "the terminal was stopped while it started"));
    await supervisor.stop(this.receipt);
    if (launching !== undefined) {
      // What comes up only now was not there to be ended, nor known by name.
      await launching;
      await supervisor.stop(this.receipt);
    }
    await this.settle();
  }

  /** Resolves when a successor may start: what ends by itself has its time, the rest is ended. */
  async makeRoom(): Promise<void> {
    if (this.receipt.ready) await within(this.ended.promise, endingMsMax);
    await this.stop();
  }

  /** A start that came to nothing: nothing of it is left, and `undo` puts the resource back. */
  async abandon(undo: () => void): Promise<void> {
    this.#abandoned = true;
    this.#stopping ??= this.#parts.supervisor.stop(this.receipt);
    await this.#stopping.finally(() => {
      this.#attempt(undo);
      return this.#clean();
    });
  }

  /** Nothing of it lives: what is left is put away, and how it ended is known or it is lost. */
  async settle(): Promise<void> {
    if (this.#over || this.#abandoned) return;
    const { log } = this.#parts;
    log("terminal.end", { id: this.receipt.id, state: this.#attempt(() => this.#endedAs()) });
    this.risen.reject(new CodedError("EHOSTDOWN", "the terminal's launch ended"));
    await this.#clean();
  }

  /** Its state; written down when the launch could not. */
  #endedAs(): string | undefined {
    const { resource, now } = this.#parts;
    if (resource.state() === "exited") return "exited";
    // A stop that had to kill the launch too: nobody else was there to say how it ended.
    const ending = this.#ending ?? (this.#stopping && killed);
    if (ending !== undefined) resource.ended(now().toISOString(), ending);
    else resource.lost(now().toISOString());
    return resource.state();
  }

  async #clean(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    const { service, endpoint, receipts, over } = this.#parts;
    try {
      if (this.#open !== undefined) await service?.close(this.#open);
    } finally {
      this.#attempt(() => endpoint.withdraw());
      this.#attempt(() => rmSync(this.receipt.control, { recursive: true, force: true }));
      this.#attempt(() => receipts.remove(this.receipt));
      over(this);
      this.ended.resolve();
    }
  }

  /** For what is the owner's, who may have broken, removed or filled it: the next step is done. */
  #attempt<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.#parts.log("terminal.untidy", { id: this.receipt.id, message: coded(error).message });
      return undefined;
    }
  }

  /** The server goes; the terminal stays. */
  async letGo(): Promise<void> {
    this.#letGo = true;
    this.#peer?.cut();
    if (this.#open !== undefined) await this.#parts.service?.close(this.#open);
  }

  #record(change: Partial<Receipt>): void {
    this.receipt = { ...this.receipt, ...change };
    this.#parts.receipts.write(this.receipt);
  }
}
