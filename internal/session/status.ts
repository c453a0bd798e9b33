// The answer to `status`: what a session is at now. Never recorded. Pure.

import type { OpFrame } from "../interaction/mod.ts";
import { eventId } from "./frames.ts";
import type { SessionState } from "./session-files.ts";
import type { RunState } from "./slave.ts";

export interface Standing {
  readonly head: number;
  readonly session: string;
  readonly state: SessionState;
  /** The run that works, else the first that waits. */
  readonly active: RunState | undefined;
  /** What that run says it is at. */
  readonly at:
    | { readonly phase: string; readonly step: number; readonly model: string | null }
    | undefined;
  readonly updated: string;
}

export function statusFrame({ head, session, state, active, at, updated }: Standing): OpFrame {
  return {
    type: "status",
    id: eventId(head),
    session,
    status: state,
    phase: active === undefined ? "idle" : active.holds ? (at?.phase ?? active.stage) : "queued",
    run: active?.run ?? null,
    step: at?.step ?? 0,
    model: at?.model ?? null,
    updated_at: updated,
  };
}
