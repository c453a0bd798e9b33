// What the launch of one step of an executable agent is asked and what it answers. A step is one
// process of the agent's own program: it reads one line, prints lines and ends. What the lines mean
// is not known here.

import type { Code } from "../abi/mod.ts";
import type { StandbyRequest } from "./types.ts";

export interface StepRequest extends StandbyRequest {
  readonly program: {
    /** Where the sandbox has it, e.g. "/ctx/agent/reviewer". */
    readonly viewPath: string;
    readonly hostPath: string;
  };
  /** CTX_STEP, from 0. */
  readonly step: number;
  /** The model's window where it is known; without it the two variables are not there. */
  readonly window: { readonly tokens: number; readonly chars: number } | undefined;
  /** All that the program reads: the envelope's line. */
  readonly stdin: Uint8Array;
  readonly timeoutMs: number;
}

export interface StepIo {
  readonly signal: AbortSignal;
  /**
   * The next bytes of standard output, which are read no faster than this returns or resolves. "stop"
   * says that nothing more can change what the step comes to: it is ended at once.
   */
  onStdout(bytes: Uint8Array): StepReading | Promise<StepReading>;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a reader that has nothing to say returns nothing
export type StepReading = void | "stop";

export interface StepOutcome {
  /** Undefined when the program never ran or was stopped; 128 and the number for a signal. */
  readonly exit: number | undefined;
  /** Why it was ended before it ended itself. */
  readonly stopped: "timeout" | "cancelled" | "reader" | undefined;
  /** The end of what it wrote to standard error, for the log: never shown to a model. */
  readonly stderr: string;
  /** View paths of `.git` entries that appeared during the step. */
  readonly newGit?: readonly string[];
  /** Of a launch that failed or was refused: nothing of the agent ran. */
  readonly code?: Code;
  readonly message?: string;
}
