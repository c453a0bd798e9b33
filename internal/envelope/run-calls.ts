// The calls of one run: how many, and which ids. An id is used up when a step yields it, before
// anybody asks whether the call is allowed, so that a second step cannot present it again.

import { quoted } from "../abi/mod.ts";
import { runCallsMax } from "./bounds.ts";
import type { StepFailure } from "./step-reader.ts";

export class RunCalls {
  readonly run: string;
  readonly #callsMax: number;
  readonly #ids = new Set<string>();

  /** `callsMax` may be less than the contract's bound and not more. */
  constructor(run: string, callsMax: number = runCallsMax) {
    if (!Number.isInteger(callsMax) || callsMax < 0 || callsMax > runCallsMax) {
      throw new RangeError(`a run of ${callsMax} calls is not between 0 and ${runCallsMax}`);
    }
    this.run = run;
    this.#callsMax = callsMax;
  }

  /** Why the call may not be; undefined when its id is now used up. */
  admit(id: string): StepFailure | undefined {
    if (this.#ids.has(id)) {
      return { code: "EALREADY", message: `call id ${quoted(id)} was used before in this run` };
    }
    if (this.#ids.size >= this.#callsMax) {
      return { code: "EMSGSIZE", message: `run made ${this.#callsMax} calls, it may make no more` };
    }
    this.#ids.add(id);
    return undefined;
  }
}
