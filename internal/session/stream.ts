// One reader of a session. It is pulled: durable records wait in the log and are read by cursor
// when the consumer asks, live frames wait in the session's ring. A live frame comes after the
// record it followed and before the next one, whatever the speed of the reader.

import { CodedError, coded } from "../abi/mod.ts";
import type { OpFrame, SessionFrame } from "../interaction/mod.ts";
import type { Cursor, SessionLog, StoredRecord } from "../session-log/mod.ts";
import type { ApprovalAnswer } from "./approval.ts";
import type { Approver } from "./approver.ts";
import { eventId, frameOf } from "./frames.ts";
import type { LiveRing } from "./live.ts";

export interface FrameStream extends AsyncIterable<SessionFrame> {
  /** Detaches the reader. A run of a private or shared session goes on. */
  close(): void;
  /**
   * Answers the approval that waits. An answer that does not fit denies it and throws EINVAL; the
   * same answer again does nothing. EACCES when another connection sent the run's input.
   */
  answer(answer: ApprovalAnswer): void;
  /** What came instead of an answer is none: denies what waits, if anything does. */
  malformedAnswer(reason: string): void;
  /** The other end cannot say anything any more: what waits is denied, and what would wait later. */
  answersEnded(): void;
}

export interface StreamPlan {
  readonly log: SessionLog;
  readonly live: LiveRing;
  readonly from: Cursor;
  /** Only the frames of this run; undefined for the whole session. */
  readonly only: string | undefined;
  /** Ends with this run's done, or at a record when nothing runs, then with `done` if need be. */
  readonly until:
    | { readonly kind: "run"; readonly run: string }
    | { readonly kind: "seq"; readonly seq: number; readonly done: OpFrame };
  readonly closed: (stream: RecordStream) => void;
  /** Of the connection that sent the run's input; no other is asked for approval. */
  readonly approver: Approver | undefined;
}

export class RecordStream implements FrameStream, AsyncIterator<SessionFrame> {
  readonly #plan: StreamPlan;
  #read: Cursor;
  #records: StoredRecord[] = [];
  /** The last record that was passed on or passed over. */
  #seq: number;
  #liveNumber = 0;
  #lastType: SessionFrame["type"] | undefined;
  #final: OpFrame[] | undefined;
  #over = false;
  #wake: (() => void) | undefined;

  constructor(plan: StreamPlan) {
    this.#plan = plan;
    this.#read = plan.from;
    this.#seq = plan.from.seq;
  }

  [Symbol.asyncIterator](): AsyncIterator<SessionFrame> {
    return this;
  }

  /** Whether its end hangs on this run. */
  follows(run: string): boolean {
    return this.#plan.until.kind === "run" && this.#plan.until.run === run;
  }

  /** Ends with these frames after what is durable, because no record will end it. */
  finish(frames: readonly OpFrame[]): void {
    this.#final ??= [...frames];
    this.poke();
  }

  /** Something may have come. */
  poke(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  async next(): Promise<IteratorResult<SessionFrame, undefined>> {
    for (;;) {
      if (this.#over) return { done: true, value: undefined };
      const frame = this.#take();
      if (frame !== undefined) {
        this.#lastType = frame.type;
        return { done: false, value: frame };
      }
      if (this.#over) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<SessionFrame, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  close(): void {
    if (this.#over) return;
    this.#end();
    this.poke();
  }

  answer(answer: ApprovalAnswer): void {
    const { approver } = this.#plan;
    if (approver === undefined) {
      throw new CodedError("EACCES", "only the connection that sent the input may answer for it");
    }
    approver.answer(answer);
  }

  malformedAnswer(reason: string): void {
    this.#plan.approver?.malformed(reason);
  }

  answersEnded(): void {
    this.#plan.approver?.lost();
  }

  #end(): void {
    this.#over = true;
    this.#plan.approver?.lost();
    this.#records = [];
    this.#plan.closed(this);
  }

  /** The next frame that is there already. Undefined: wait, or it is over. */
  #take(): SessionFrame | undefined {
    for (;;) {
      const live = this.#takeLive();
      if (live !== undefined) return live;
      const { until } = this.#plan;
      if (until.kind === "seq" && this.#seq >= until.seq) return this.#takeIdleEnd(until.done);
      const record = this.#nextRecord();
      if (record === undefined) return this.#takeFinal();
      this.#seq = record.event.seq;
      const frame = this.#frameOf(record);
      const { type, run } = record.event;
      if (type === "run.done" && until.kind === "run" && run === until.run) this.#end();
      if (frame !== undefined) return frame;
      if (this.#over) return undefined;
    }
  }

  #frameOf(record: StoredRecord): SessionFrame | undefined {
    const { only } = this.#plan;
    const { type, run, call, seq } = record.event;
    if (only !== undefined && run !== only) return undefined;
    if (type === "approval.request") return this.#plan.approver?.show(call ?? "", seq);
    return frameOf(record);
  }

  #takeLive(): OpFrame | undefined {
    for (;;) {
      const next = this.#plan.live.at(this.#liveNumber);
      if (next === undefined || next.live.after > this.#seq) return undefined;
      this.#liveNumber = next.number + 1;
      const { live } = next;
      // What is older than the reader's place is told by the records it has seen.
      if (live.after < this.#seq) continue;
      if (this.#plan.only === undefined || this.#plan.only === live.run) return live.frame;
    }
  }

  #takeIdleEnd(done: OpFrame): OpFrame | undefined {
    const told = this.#lastType === "done";
    this.#end();
    return told ? undefined : done;
  }

  #takeFinal(): OpFrame | undefined {
    const frame = this.#final?.shift();
    if (this.#final?.length === 0) this.#end();
    return frame;
  }

  #nextRecord(): StoredRecord | undefined {
    if (this.#records.length === 0) {
      try {
        const { records, cursor } = this.#plan.log.read(this.#read);
        this.#records = [...records].reverse();
        this.#read = cursor;
      } catch (error) {
        const { code, message } = coded(error);
        this.#final ??= [{ type: "error", id: eventId(this.#seq), code, message }];
      }
    }
    return this.#records.pop();
  }
}
