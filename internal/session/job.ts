// One admitted input from its arrival until its run is over, and the promises others wait on.

import { type CodedError, coded } from "../abi/mod.ts";
import type { OpFrame } from "../interaction/mod.ts";
import type { LiveRun } from "./run-context.ts";
import type { Outcome } from "./slave.ts";
import type { RunExecutor } from "./types.ts";

export class Job {
  readonly run: LiveRun;
  /** Name of the agent's model at its acceptance; undefined for words, which no model sees. */
  readonly model: string | undefined;
  /** Sequence number of its acceptance, once that is durable. */
  readonly accepted: Promise<number>;
  /** Its `done`. */
  readonly done: Promise<OpFrame>;
  readonly accept: (seq: number) => void;
  readonly finish: (frame: OpFrame) => void;
  /** Neither acceptance nor end will come. */
  readonly abandon: (error: CodedError) => void;

  constructor(run: LiveRun, model: string | undefined) {
    this.run = run;
    this.model = model;
    const accepted = Promise.withResolvers<number>();
    const done = Promise.withResolvers<OpFrame>();
    // Nobody has to wait for either.
    accepted.promise.catch(() => undefined);
    done.promise.catch(() => undefined);
    this.accepted = accepted.promise;
    this.done = done.promise;
    this.accept = accepted.resolve;
    this.finish = done.resolve;
    this.abandon = (error) => {
      accepted.reject(error);
      done.reject(error);
    };
  }

  /** Runs the executor; whatever it throws is an outcome. */
  async work(executor: RunExecutor): Promise<Outcome> {
    try {
      return await executor(this.run);
    } catch (error) {
      const { code, message } = coded(error);
      return { status: "error", code, message };
    }
  }
}
