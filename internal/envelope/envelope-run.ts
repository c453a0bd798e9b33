// The order of a run's steps, as the host keeps it: step 0 has no observation, each later step has
// exactly the result of the call before it, and nothing starts after an outcome that is no call.

import { fail } from "../abi/mod.ts";
import { runCallsMax } from "./bounds.ts";
import type { CallFrame, Invocation } from "./frames.ts";
import { RunCalls } from "./run-calls.ts";
import { type StepExit, type StepOutcome, StepReader } from "./step-reader.ts";

export class EnvelopeRun {
  readonly #calls: RunCalls;
  #step = 0;
  #call: CallFrame | undefined;
  #reader: StepReader | undefined;
  #over = false;

  constructor(run: string, callsMax: number = runCallsMax) {
    this.#calls = new RunCalls(run, callsMax);
  }

  /** Begins the step of `invocation`. Throws EINVAL when it is not the one that comes next. */
  begin(invocation: Invocation): StepReader {
    const wrong = this.#fault(invocation);
    if (wrong !== undefined) fail("EINVAL", `step ${invocation.step} cannot begin: ${wrong}`);
    this.#reader = new StepReader(this.#calls);
    return this.#reader;
  }

  /** Ends the step that began last. Any outcome but a call ends the run. */
  end(exit?: StepExit): StepOutcome {
    const reader = this.#reader ?? fail("EINVAL", "no step has begun");
    this.#reader = undefined;
    const outcome = reader.end(exit);
    this.#over = outcome.kind !== "call";
    this.#call = outcome.kind === "call" ? outcome.call : undefined;
    this.#step += 1;
    return outcome;
  }

  #fault({ run, step, observation }: Invocation): string | undefined {
    if (this.#over) return "the run is over";
    if (this.#reader !== undefined) return "the step before has not ended";
    if (run !== this.#calls.run) return "it is of another run";
    if (step !== this.#step) return `the next step is ${this.#step}`;
    if (this.#call === undefined) return undefined;
    const { id, name } = this.#call;
    const fits = observation?.tool_call_id === id && observation.name === name;
    return fits ? undefined : `its observation is not the result of the call "${id}"`;
  }
}
