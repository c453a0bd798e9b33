// One open session: it drives the slave machine, performs its effects in order, and serves readers.
// Nothing is published that is not durable; everything that is durable is published, to the facts,
// the history and the readers, in the order of the log.

import { CodedError, coded } from "../abi/mod.ts";
import type { OpFrame, SendRequest } from "../interaction/mod.ts";
import {
  type Claims,
  type Entry,
  recordFormat,
  type SessionLog,
  type StoredRecord,
} from "../session-log/mod.ts";
import { endRetryMs, executorGraceMs, readerGraceMs } from "./bounds.ts";
import { endingEntries, unrecordedEnd } from "./ending.ts";
import { SessionFacts } from "./facts.ts";
import { eventId, frameOf } from "./frames.ts";
import { HistoryTail } from "./history.ts";
import { Job } from "./job.ts";
import { LiveRing } from "./live.ts";
import type { Placement } from "./placement.ts";
import { positionOf } from "./position.ts";
import { LiveRun, type RunHost } from "./run-context.ts";
import {
  deriveSession,
  restingState,
  type SessionIndex,
  type SessionState,
} from "./session-files.ts";
import { Signal } from "./signal.ts";
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
import { type FrameStream, RecordStream, type StreamPlan } from "./stream.ts";
import type { RunExecutor } from "./types.ts";

export interface SessionParts {
  readonly placement: Placement;
  readonly executor: RunExecutor;
  readonly record: "arguments" | "digest";
  readonly index: SessionIndex | undefined;
  /** Name of the agent's model, for records and frames. */
  model(): string;
  newRun(): string;
  /** Something ended that may leave the session idle or unread. */
  settled(session: Session): void;
}

export class Session {
  readonly facts = new SessionFacts();
  readonly placement: Placement;
  readonly #history = new HistoryTail();
  readonly #live = new LiveRing();
  readonly #streams = new Set<RecordStream>();
  readonly #jobs = new Map<string, Job>();
  /** Executors that have not returned yet. */
  readonly #executing = new Set<Promise<unknown>>();
  /** Fires when a log that was full may take the end of a run, and when a reader leaves. */
  readonly #changed = new Signal();
  readonly #parts: SessionParts;
  readonly #host: RunHost;
  #log!: SessionLog;
  #slave: Slave = idleSlave;
  #failure: CodedError | undefined;
  #closing: Promise<void> | undefined;
  /** Callers that hold the session open while they set something up. */
  pins = 0;

  constructor(parts: SessionParts) {
    this.placement = parts.placement;
    this.#parts = parts;
    this.#host = this.#runHost();
  }

  get failure(): CodedError | undefined {
    return this.#failure;
  }

  /** Nobody reads it. */
  get unread(): boolean {
    return this.#streams.size === 0 && this.pins === 0;
  }

  /** Nobody reads it, nothing runs or waits. */
  get idle(): boolean {
    return this.unread && this.#slave.runs.length === 0;
  }

  counts(): { readonly running: number; readonly queued: number } {
    const running = activeRun(this.#slave) === undefined ? 0 : 1;
    return { running, queued: waitingRuns(this.#slave).length };
  }

  /** A record that the log holds already; before `begin` only. */
  visit(record: StoredRecord): void {
    this.facts.add(record);
    this.#history.add(record);
  }

  published(records: readonly StoredRecord[]): void {
    for (const record of records) this.visit(record);
    this.#poke();
    this.#changed.fire();
  }

  /** Takes the validated log: marks a new one, ends what a crash left open. */
  async begin(log: SessionLog): Promise<void> {
    this.#log = log;
    const opening: Entry = { event: { type: "session.open", format: recordFormat } };
    const entries = log.head === 0 ? [opening] : this.facts.recovery();
    if (entries.length > 0) await log.appendDurable({ entries });
    if (log.head === 1) this.#parts.index?.listed();
    this.#derive();
  }

  /** The frames of one input: it is admitted, or what became of it before is told again. */
  async send(request: SendRequest, digest: string, claims: Claims): Promise<FrameStream> {
    if (this.#failure !== undefined) throw this.#failure;
    const { key } = this.placement;
    const claim = claims.find(request.id);
    if (claim?.proven && claim.key !== key) throw conflict(request.id);
    const run = this.#parts.newRun();
    const model = `model/${this.#parts.model()}`;
    const known = this.facts.requests.get(request.id);
    const event = { kind: "send" as const, run, request: request.id, digest, known };
    const [effect] = this.#advance(event);
    if (effect?.kind === "reject") throw this.#rejected(effect.code, request.id);
    if (effect?.kind === "accept") this.#accept(run, request, digest, effect.queued, model, claims);
    const told = effect?.kind === "replay" ? effect.run : run;
    const seq = await (this.#jobs.get(told)?.accepted ?? known?.seq);
    if (this.#failure !== undefined) throw this.#failure;
    if (seq === undefined) throw new CodedError("EIO", `run "${told}" has no acceptance`);
    return this.#stream(seq - 1, told, { kind: "run", run: told });
  }

  /** Throws cursor_invalid. Follows the active run, else ends where the log ends. */
  resume(after: string | undefined): FrameStream {
    if (this.#failure !== undefined) throw this.#failure;
    const { head } = this.#log;
    const seq = positionOf(after, this.facts, head);
    const live = this.#slave.runs.find(
      ({ stage }) => stage !== "accepting" && stage !== "draining",
    );
    if (live !== undefined) return this.#stream(seq, undefined, { kind: "run", run: live.run });
    const { last } = this.facts;
    const ended =
      last === undefined ? { status: "ok" as const } : { run: last.run, status: last.status };
    const done: OpFrame = { type: "done", id: eventId(head), ...ended };
    return this.#stream(seq, undefined, { kind: "seq", seq: head, done });
  }

  status(now: Date): OpFrame {
    const active = activeRun(this.#slave) ?? waitingRuns(this.#slave)[0];
    const at = active === undefined ? undefined : this.#jobs.get(active.run)?.run.at;
    return {
      type: "status",
      id: eventId(this.#log.head),
      session: this.placement.session,
      status: this.#state(),
      phase: active === undefined ? "idle" : active.holds ? (at?.phase ?? active.stage) : "queued",
      run: active?.run ?? null,
      step: at?.step ?? 0,
      model: at?.model ?? null,
      updated_at: this.facts.updated ?? now.toISOString(),
    };
  }

  /** Undefined when this session has no such run that could still be cancelled. */
  cancel(run: string): Promise<OpFrame> | undefined {
    const job = this.#jobs.get(run);
    const before = this.#slave;
    if (job === undefined) return undefined;
    this.#advance({ kind: "cancel", run });
    return this.#slave === before ? undefined : job.done;
  }

  /** The log has failed for good: readers are told, nothing is recorded any more. */
  fail(error: CodedError): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#advance({ kind: "failed", code: error.code });
    const id = eventId(this.#log.head);
    const { code, message } = error;
    for (const stream of this.#streams) stream.finish([{ type: "error", id, code, message }]);
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
    const grace = new Signal();
    const returned = Promise.allSettled(this.#executing).then(() => grace.fire());
    await Promise.race([returned, grace.wait(executorGraceMs)]);
    grace.fire();
    for (const stream of this.#streams) stream.finish([]);
    const deadline = Date.now() + readerGraceMs;
    while (this.#streams.size > 0 && Date.now() < deadline) await this.#changed.wait(readerGraceMs);
    for (const stream of this.#streams) stream.close();
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

  #accept(
    run: string,
    request: SendRequest,
    digest: string,
    queued: boolean,
    object: string,
    claims: Claims,
  ): void {
    const job = new Job(new LiveRun(run, request, this.#host));
    this.#jobs.set(run, job);
    const { key, relative, session } = this.placement;
    const claim = claims.take(request.id, key, digest, relative !== undefined);
    const entries = acceptance(run, request, digest, queued, object);
    this.#parts.index?.used(session, request.workspace ?? request.cwd);
    this.#log.appendDurable({ entries, claim }).then(
      ([first]) => {
        job.accept(first?.seq ?? 0);
        this.#advance({ kind: "accepted", run });
      },
      (error) => {
        claims.drop(request.id);
        this.#jobs.delete(run);
        job.abandon(coded(error));
        this.#advance({ kind: "refused", run });
      },
    );
  }

  async #start(run: string): Promise<void> {
    try {
      await this.#log.appendDurable({ entries: [{ event: { type: "run.start", run } }] });
      this.#advance({ kind: "started", run });
    } catch (error) {
      this.#advance({ kind: "start_failed", run, code: coded(error).code });
    }
  }

  #execute(run: string): void {
    const job = this.#jobs.get(run);
    if (job === undefined) return;
    this.#derive();
    const working = this.#work(job).then((outcome) => {
      this.#executing.delete(working);
      this.#advance({ kind: "returned", run, outcome });
    });
    this.#executing.add(working);
  }

  async #work(job: Job): Promise<Outcome> {
    try {
      return await this.#parts.executor(job.run);
    } catch (error) {
      const { code, message } = coded(error);
      return { status: "error", code, message };
    }
  }

  /** Records the end of a run, however long the disk stays full; readers do not wait for that. */
  async #finish(run: string, outcome: Outcome): Promise<void> {
    const job = this.#jobs.get(run);
    if (job === undefined) return;
    await job.run.end();
    while (this.#failure === undefined) {
      try {
        const entries = endingEntries(this.facts, run, outcome);
        const records = await this.#log.appendDurable({ entries });
        const done = records.at(-1);
        if (done !== undefined) job.finish(frameOf({ event: done, message: undefined }) as OpFrame);
        break;
      } catch (error) {
        if (this.#failure !== undefined) return;
        const frames = unrecordedEnd(this.#log.head, run, coded(error));
        for (const one of this.#streams) if (one.follows(run)) one.finish(frames);
        job.finish(frames[1] as OpFrame);
        // On a stop the next open ends it, as after a crash.
        if (this.#closing !== undefined) break;
        await this.#changed.wait(endRetryMs);
      }
    }
    this.#jobs.delete(run);
    this.#live.clear();
    this.#advance({ kind: "ended", run });
    this.#derive();
  }

  #stream(after: number, only: string | undefined, until: StreamPlan["until"]): FrameStream {
    const stream = new RecordStream({
      log: this.#log,
      live: this.#live,
      from: this.#log.locate(after),
      only,
      until,
      closed: (one) => {
        this.#streams.delete(one);
        this.#changed.fire();
        this.#parts.settled(this);
      },
    });
    this.#streams.add(stream);
    return stream;
  }

  #poke(): void {
    for (const stream of this.#streams) stream.poke();
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

  #rejected(code: CodedError["code"], request: string): CodedError {
    const { session } = this.placement;
    if (code === "request_conflict") return conflict(request);
    if (code === "busy") {
      return new CodedError("busy", `session "${session}" has as many waiting inputs as it may`, {
        hint: "send it again when one of them is done",
      });
    }
    return new CodedError(code, `session "${session}" is closing`);
  }

  #runHost(): RunHost {
    const { agent, session, scope } = this.placement;
    const folder = () => this.#log.folder;
    return {
      agent,
      session,
      scope,
      get folder() {
        return folder();
      },
      record: this.#parts.record,
      append: (entries) => this.#log.appendDurable({ entries }),
      keepChunk: (bytes) => this.#log.keepChunk(bytes),
      isOpenCall: (run, call) => this.facts.open.get(run)?.calls.has(call) ?? false,
      history: (run) => this.#history.before(run),
      live: (run, text, frame) => {
        const { head } = this.#log;
        this.#live.push(head, run, text, frame(eventId(head)));
        this.#poke();
      },
    };
  }
}

/** The order of an admission: accepted, its message, and its start when nothing is before it. */
function acceptance(
  run: string,
  request: SendRequest,
  digest: string,
  queued: boolean,
  object: string,
): Entry[] {
  const entries: Entry[] = [
    {
      event: {
        type: "request.accepted",
        run,
        object,
        request: request.id,
        digest,
        ...(queued ? { queued: true as const } : {}),
        ...(request.cwd === undefined ? {} : { cwd: request.cwd }),
        ...(request.workspace === undefined ? {} : { workspace: request.workspace }),
      },
    },
    { event: { type: "message", run, role: "user" }, text: request.input },
  ];
  if (!queued) entries.push({ event: { type: "run.start", run, object } });
  return entries;
}

export function conflict(request: string): CodedError {
  return new CodedError(
    "request_conflict",
    `request id ${JSON.stringify(request)} was used with another payload, session or folder`,
    { hint: "use a new id for a new request" },
  );
}
