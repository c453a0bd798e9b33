// All readers of one session and the live frames they share.

import type { OpFrame } from "../interaction/mod.ts";
import type { SessionLog } from "../session-log/mod.ts";
import type { Approver } from "./approver.ts";
import { LiveRing } from "./live.ts";
import { type FrameStream, RecordStream, type StreamPlan } from "./stream.ts";

export class Readers {
  readonly #streams = new Set<RecordStream>();
  readonly #live = new LiveRing();
  readonly #left: () => void;

  /** `left` is called whenever a reader is gone. */
  constructor(left: () => void) {
    this.#left = left;
  }

  get size(): number {
    return this.#streams.size;
  }

  /** A reader of what comes after record `after`; of one run's frames only, when `only` is set. */
  add(
    log: SessionLog,
    after: number,
    only: string | undefined,
    until: StreamPlan["until"],
    approver?: Approver,
  ): FrameStream {
    const stream = new RecordStream({
      log,
      live: this.#live,
      from: log.locate(after),
      only,
      until,
      approver,
      closed: (one) => {
        this.#streams.delete(one);
        this.#left();
      },
    });
    this.#streams.add(stream);
    return stream;
  }

  /** New durable records are there. */
  poke(): void {
    for (const stream of this.#streams) stream.poke();
  }

  /** A frame that is never recorded, after the last durable record. */
  live(after: number, run: string, text: string, frame: OpFrame): void {
    this.#live.push(after, run, text, frame);
    this.poke();
  }

  /** Live frames of a run that is over serve nobody. */
  forgetLive(): void {
    this.#live.clear();
  }

  /** Ends every reader, or those that follow one run, after what is durable. */
  finish(frames: readonly OpFrame[], run?: string): void {
    for (const stream of this.#streams) {
      if (run === undefined || stream.follows(run)) stream.finish(frames);
    }
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
  }
}
