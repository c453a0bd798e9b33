// Makes the end of a run durable, however long the disk stays full. Its readers do not wait for
// that: they are told the end without a record, and the record follows when there is room. When the
// session stops before, the next open ends the run as it does after a crash.

import { coded } from "../abi/mod.ts";
import type { OpFrame } from "../interaction/mod.ts";
import type { SessionLog } from "../session-log/mod.ts";
import { endRetryMs } from "./bounds.ts";
import { endingEntries, unrecordedEnd } from "./ending.ts";
import type { SessionFacts } from "./facts.ts";
import { frameOf } from "./frames.ts";
import type { Job } from "./job.ts";
import type { Signal } from "./signal.ts";
import type { Outcome } from "./slave.ts";

export interface EndParts {
  readonly log: SessionLog;
  readonly facts: SessionFacts;
  readonly job: Job;
  readonly outcome: Outcome;
  /** Fires when something was written, so that there may be room. */
  readonly changed: Signal;
  /** Ends the readers of this run with frames that no record stands behind. */
  readonly tell: (frames: readonly OpFrame[]) => void;
  /** No further try: the log has failed or the session closes. */
  readonly over: () => boolean;
}

export async function recordEnd(parts: EndParts): Promise<void> {
  const { log, facts, job, outcome } = parts;
  const { run } = job.run;
  for (;;) {
    try {
      const records = await log.appendDurable({ entries: endingEntries(facts, run, outcome) });
      const done = records.at(-1);
      if (done !== undefined) job.finish(frameOf({ event: done, message: undefined }) as OpFrame);
      return;
    } catch (error) {
      const frames = unrecordedEnd(log.head, run, coded(error));
      parts.tell(frames);
      job.finish(frames[1] as OpFrame);
      if (parts.over()) return;
      await parts.changed.wait(endRetryMs);
    }
  }
}
