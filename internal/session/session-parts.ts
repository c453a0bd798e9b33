// What a session is given by the registry that opens it.

import type { Placement } from "./placement.ts";
import type { Session } from "./session.ts";
import type { SessionIndex } from "./session-files.ts";
import type { RunExecutor } from "./types.ts";

export interface SessionParts {
  readonly placement: Placement;
  readonly executor: RunExecutor;
  readonly record: "arguments" | "digest";
  readonly approvalTimeoutMs: number;
  readonly index: SessionIndex | undefined;
  /** Name of the agent's model, for records and frames. */
  model(): string;
  newRun(): string;
  now(): Date;
  /** Something ended that may leave the session idle or unread. */
  settled(session: Session): void;
}
