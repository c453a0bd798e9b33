// What a run asks of the terminal of its session, if there is one. Who keeps terminals is no concern
// of a run: it hands over a call that is decided and checked, and gets an outcome.

import type { LaunchIo, LaunchOutcome, LaunchRequest, SessionOfAgent } from "../launch/mod.ts";

export interface TerminalCalls {
  /** Whether a call of the session would find a shell that serves. */
  serves(session: SessionOfAgent): boolean;
  /**
   * Runs the call in the session's terminal; `words` are shown there. Undefined when it has none that
   * serves, or one that shows another view than the call is to have: nothing was run then, and the call
   * is for a sandbox of its own. What was begun is never begun again.
   */
  run(
    request: LaunchRequest,
    words: readonly string[],
    io: LaunchIo,
  ): Promise<LaunchOutcome | undefined>;
  /** A line for whoever watches. Without a shell that serves nobody is told. */
  note(session: SessionOfAgent, text: string): void;
}
