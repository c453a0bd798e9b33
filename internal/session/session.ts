// One open session: it drives the slave machine, performs its effects in order, and serves readers.
// Nothing is published that is not durable; everything that is durable is published, to the facts,
// the history and the readers, in the order of the log.

import { CodedError, coded } from "../abi/mod.ts";
import type { OpFrame, RunRequest } from "../interaction/mod.ts";
import type { Claims, SessionLog, StoredRecord } from "../session-log/mod.ts";
import { type Admission, admit, conflict, rejection, startEntry } from "./admission.ts";
import { executorGraceMs, readerGraceMs } from "./bounds.ts";
import { openingEntries, SessionFacts } from "./facts.ts";
import { eventId } from "./frames.ts";
import { HistoryTail } from "./history.ts";
import { Job } from "./job.ts";
import type { Placement } from "./placement.ts";
import { Readers } from "./readers.ts";
import { recordEnd } from "./record-end.ts";
import { resumePlan } from "./resume-plan.ts";
import { LiveRun, type RunHost } from "./run-context.ts";
import { runHost } from "./run-host.ts";
import { deriveSession, restingState, type SessionState } from "./session-files.ts";
import type { SessionParts } from "./session-parts.ts";
import { Signal, settledWithin } from "./signal.ts";
import {
  activeRun,
  idleSlave,
  type Outcome,
  type Slave,
  type SlaveEffect,
  type SlaveEvent,
  step,
  waitingRuns,
} from "./slave.ts";
import { statusFrame } from "./status.ts";
import type { FrameStream } from "./stream.ts";

export class Session {
  readonly facts = new SessionFacts();
  readonly placement: Placement;
  readonly #history = new HistoryTail();
  readonly #readers: Readers;
  readonly #jobs = new Map<string, Job>();
  /** Executors that have not returned yet. */
  readonly #executing = new Set<Promise<unknown>>();
  /** Fires when a log that was full may take the end of a run, and when a reader leaves. */
  readonly #changed = new Signal();
  readonly #parts: SessionParts;
  #host!: RunHost;
  #log!: SessionLog;
  #slave: Slave = idleSlave;
  #failure: CodedError | undefined;
  #closing: Promise<void> | undefined;
  /** Callers that hold the session open while they set something up. */
  pins = 0;

  constructor(parts: SessionParts) {
    this.placement = parts.placement;
    this.#parts = parts;
    this.#readers = new Readers(() => {
      this.#changed.fire();
      parts.settled(this);
    });
  }

  get failure(): CodedError | undefined {
    return this.#failure;
  }

  /** Nobody reads it. */
  get unread(): boolean {
    return this.#readers.size === 0 && this.pins === 0;
  }

  /** Nobody reads it, nothing runs or waits. */
  get idle(): boolean {
    return this.unread && this.#slave.runs.length === 0;
  }

  /** Nothing uses it, and its log was removed or replaced: it has to be opened anew. */
  get misplaced(): boolean {
    return this.idle && !this.#log.inPlace;
  }

  counts(): { readonly running: number; readonly queued: number } {
    const { length: queued } = waitingRuns(this.#slave);
    return { running: activeRun(this.#slave) === undefined ? 0 : 1, queued };
  }

  /** A record that the log holds already; before `begin` only. */
  visit(record: StoredRecord): void {
    this.facts.add(record);
    this.#history.add(record);
  }

  published(records: readonly StoredRecord[]): void {
    for (const record of records) this.visit(record);
    this.#readers.poke();
    this.#changed.fire();
  }

  /** Takes the validated log: marks a new one, ends what a crash left open. */
  async begin(log: SessionLog): Promise<void> {
    this.#log = log;
    this.#host = runHost({
      parts: this.#parts,
      facts: this.facts,
      history: this.#history,
      readers: this.#readers,
      log,
    });
    const entries = log.head === 0 ? openingEntries : this.facts.recovery();
    if (entries.length > 0) await log.appendDurable({ entries });
    if (log.head === 1) this.#parts.index?.listed();
    this.#derive();
  }

  /** The frames of one input: it is admitted, or what became of it before is told again. */
  async send(request: RunRequest, digest: string, claims: Claims): Promise<FrameStream> {
    if (this.#failure !== undefined) throw this.#failure;
    const { key } = this.placement;
    const claim = claims.find(request.id);
    if (claim?.proven && claim.key !== key) throw conflict(request.id);
    const run = this.#parts.newRun();
    const model = request.op === "send" ? this.#parts.model() : undefined;
    const known = this.facts.requests.get(request.id);
    const [effect] = this.#advance({ kind: "send", run, request: request.id, digest, known });
    if (effect?.kind === "reject") {
      throw rejection(effect.code, request.id, this.placement.session);
    }
    if (effect?.kind === "accept") {
      this.#accept({ run, request, digest, model, claims, queued: effect.queued });
    }
    const told = effect?.kind === "replay" ? effect.run : run;
    // A replay is told what happened; only who sent the input first is asked about its calls.
    const approver = effect?.kind === "accept" ? this.#jobs.get(run)?.run.approver : undefined;
    const seq = await (this.#jobs.get(told)?.accepted ?? known?.seq);
    if (this.#failure !== undefined) throw this.#failure;
    if (seq === undefined) throw new CodedError("EIO", `run "${told}" has no acceptance`);
    return this.#readers.add(this.#log, seq - 1, told, { kind: "run", run: told }, approver);
  }

  /** Throws cursor_invalid. Follows the active run, else ends where the log ends. */
  resume(after: string | undefined): FrameStream {
    if (this.#failure !== undefined) throw this.#failure;
    const plan = resumePlan(after, this.#slave, this.facts, this.#log.head);
    return this.#readers.add(this.#log, plan.after, undefined, plan.until);
  }

  status(now: Date): OpFrame {
    const active = activeRun(this.#slave) ?? waitingRuns(this.#slave)[0];
    const at = active === undefined ? undefined : this.#jobs.get(active.run)?.run.at;
    return statusFrame({
      head: this.#log.head,
      session: this.placement.session,
      state: this.#state(),
      active,
      at,
      updated: this.facts.updated ?? now.toISOString(),
    });
  }

  /** Undefined when this session has no such run that could still be cancelled. */
  cancel(run: string): Promise<OpFrame> | undefined {
    const job = this.#jobs.get(run);
    if (job === undefined) return undefined;
    const before = this.#slave;
    this.#advance({ kind: "cancel", run });
    return this.#slave === before ? undefined : job.done;
  }

  /** The log has failed for good: readers are told, nothing is recorded any more. */
  fail(error: CodedError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#advance({ kind: "failed", code: error.code });
    const id = eventId(this.#log.head);
    this.#readers.finish([{ type: "error", id, code: error.code, message: error.message }]);
    for (const job of this.#jobs.values()) job.abandon(error);
    this.#jobs.clear();
    this.#changed.fire();
    this.#derive();
  }

  /** Ends what runs or waits as interrupted, lets readers finish, gives up files and lock. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const ends = [...this.#jobs.values()].map((job) => job.done);
    this.#advance({ kind: "close" });
    this.#changed.fire();
    await Promise.allSettled(ends);
    await settledWithin([...this.#executing], executorGraceMs);
    this.#readers.finish([]);
    const deadline = Date.now() + readerGraceMs;
    while (this.#readers.size > 0 && Date.now() < deadline) await this.#changed.wait(readerGraceMs);
    this.#readers.close();
    await this.#log.close();
    this.#parts.index?.flush();
  }

  /** Steps the machine and performs the effects that answer nobody; gives back the others. */
  #advance(event: SlaveEvent): readonly SlaveEffect[] {
    const { next, effects } = step(this.#slave, event);
    this.#slave = next;
    const answers = effects.filter((effect) => !this.#perform(effect));
    if (next.runs.length === 0) this.#parts.settled(this);
    return answers;
  }

  /** False for an effect that is the caller's answer. */
  #perform(effect: SlaveEffect): boolean {
    switch (effect.kind) {
      case "start":
        void this.#start(effect.run);
        return true;
      case "execute":
        this.#execute(effect.run);
        return true;
      case "abort":
        this.#jobs.get(effect.run)?.run.abort();
        return true;
      case "finish":
        void this.#finish(effect.run, effect.outcome);
        return true;
      default:
        return false;
    }
  }

  #accept(admission: Admission): void {
    const { run, request, model } = admission;
    const job = new Job(new LiveRun(run, request, this.#host), model);
    this.#jobs.set(run, job);
    admit(admission, this.#log, this.placement, this.#parts.index).then(
      (seq) => {
        job.accept(seq);
        this.#advance({ kind: "accepted", run });
      },
      (error) => {
        this.#jobs.delete(run);
        job.abandon(coded(error));
        this.#advance({ kind: "refused", run });
      },
    );
    if (!admission.queued) this.#parts.executor.expect?.(job.run);
  }

  async #start(run: string): Promise<void> {
    try {
      await this.#log.appendDurable({ entries: [startEntry(run, this.#jobs.get(run)?.model)] });
      this.#advance({ kind: "started", run });
    } catch (error) {
      this.#advance({ kind: "start_failed", run, code: coded(error).code });
    }
  }

  #execute(run: string): void {
    const job = this.#jobs.get(run);
    if (job === undefined) return;
    this.#derive();
    const working = job.work(this.#parts.executor).then((outcome) => {
      this.#executing.delete(working);
      this.#advance({ kind: "returned", run, outcome });
    });
    this.#executing.add(working);
  }

  async #finish(run: string, outcome: Outcome): Promise<void> {
    const job = this.#jobs.get(run);
    if (job === undefined) return;
    await job.run.end();
    await recordEnd({
      log: this.#log,
      facts: this.facts,
      job,
      outcome,
      changed: this.#changed,
      tell: (frames) => this.#readers.finish(frames, run),
      over: () => this.#failure !== undefined || this.#closing !== undefined,
    });
    if (this.#failure !== undefined) return;
    this.#jobs.delete(run);
    this.#readers.forgetLive();
    this.#advance({ kind: "ended", run });
    this.#derive();
  }

  #state(): SessionState {
    if (this.#failure !== undefined) return "error";
    const busy = this.#slave.runs.some((one) => one.stage !== "draining");
    return busy ? "active" : restingState(this.facts);
  }

  #derive(): void {
    const run = activeRun(this.#slave)?.run ?? null;
    deriveSession(this.#log, this.placement, this.facts, this.#state(), run);
  }
}
