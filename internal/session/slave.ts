// The session slave as a pure machine: which input is admitted, which waits, which runs, what a
// cancel does. It knows neither files nor sockets nor time; whoever drives it performs the effects
// in order and tells it what came of them. Invariants: one run holds the session at a time, at most
// `sessionQueueLengthMax` wait, and every accepted input is ended exactly once.

import { type Code, sessionQueueLengthMax } from "../abi/mod.ts";
import type { RunStatus } from "../interaction/mod.ts";

/**
 * accepting: its acceptance is being made durable. queued: durable, waits. starting: its run.start
 * is being made durable. running: the executor works. ending: its run.done is being made durable.
 * draining: over for everybody, but its executor has not returned yet.
 */
export type Stage = "accepting" | "queued" | "starting" | "running" | "ending" | "draining";

export interface RunState {
  readonly run: string;
  readonly request: string;
  readonly digest: string;
  readonly stage: Stage;
  /** It is the one run of the session; the others wait until it lets go. */
  readonly holds: boolean;
  /** Its executor was called and has not returned. */
  readonly executing: boolean;
  /** How it must end as soon as what is in flight is durable. */
  readonly endAs: "cancelled" | "interrupted" | undefined;
}

export interface Slave {
  /** In order of arrival, which is the order of execution. */
  readonly runs: readonly RunState[];
  /** Set when nothing is admitted any more. */
  readonly over: Code | undefined;
}

export type SlaveEvent =
  | {
      readonly kind: "send";
      readonly run: string;
      readonly request: string;
      readonly digest: string;
      /** The id among earlier requests of this session that are not live any more. */
      readonly known: { readonly run: string; readonly digest: string } | undefined;
    }
  | { readonly kind: "accepted" | "refused" | "started" | "ended"; readonly run: string }
  | { readonly kind: "start_failed"; readonly run: string; readonly code: Code }
  | { readonly kind: "returned"; readonly run: string; readonly outcome: Outcome }
  | { readonly kind: "cancel"; readonly run: string }
  | { readonly kind: "failed"; readonly code: Code }
  | { readonly kind: "close" };

export interface Outcome {
  readonly status: RunStatus;
  readonly code?: Code;
  readonly message?: string;
}

export type SlaveEffect =
  | { readonly kind: "reject"; readonly code: Code }
  | { readonly kind: "replay"; readonly run: string }
  | { readonly kind: "accept"; readonly run: string; readonly queued: boolean }
  | { readonly kind: "start" | "execute" | "abort"; readonly run: string }
  | { readonly kind: "finish"; readonly run: string; readonly outcome: Outcome };

export interface Step {
  readonly next: Slave;
  readonly effects: readonly SlaveEffect[];
}

export const idleSlave: Slave = { runs: [], over: undefined };

export function step(state: Slave, event: SlaveEvent): Step {
  switch (event.kind) {
    case "send":
      return send(state, event);
    case "accepted":
      return accepted(state, event.run);
    case "refused":
      return schedule(without(state, event.run), []);
    case "started":
      return started(state, event.run);
    case "start_failed":
      return finish(state, event.run, { status: "error", code: event.code });
    case "returned":
      return returned(state, event.run, event.outcome);
    case "ended":
      return ended(state, event.run);
    case "cancel":
      return end(state, event.run, "cancelled");
    case "failed":
      return failed(state, event.code);
    case "close":
      return close(state);
  }
}

/** The run that clients would call active: the one that holds the session and is not over. */
export function activeRun(state: Slave): RunState | undefined {
  return state.runs.find((one) => one.holds && one.stage !== "draining");
}

export function waitingRuns(state: Slave): readonly RunState[] {
  return state.runs.filter(
    (one) => !one.holds && (one.stage === "accepting" || one.stage === "queued"),
  );
}

function send(state: Slave, event: SlaveEvent & { kind: "send" }): Step {
  const known = state.runs.find((one) => one.request === event.request) ?? event.known;
  if (known !== undefined) {
    if (known.digest !== event.digest) return reject(state, "request_conflict");
    return { next: state, effects: [{ kind: "replay", run: known.run }] };
  }
  if (state.over !== undefined) return reject(state, state.over);
  const waiting = waitingRuns(state).length;
  const holds = waiting === 0 && !state.runs.some((one) => one.holds);
  if (!holds && waiting >= sessionQueueLengthMax) return reject(state, "busy");
  const added: RunState = {
    run: event.run,
    request: event.request,
    digest: event.digest,
    stage: "accepting",
    holds,
    executing: false,
    endAs: undefined,
  };
  return {
    next: { ...state, runs: [...state.runs, added] },
    effects: [{ kind: "accept", run: event.run, queued: !holds }],
  };
}

function reject(state: Slave, code: Code): Step {
  return { next: state, effects: [{ kind: "reject", code }] };
}

function accepted(state: Slave, run: string): Step {
  const found = find(state, run, "accepting");
  if (found === undefined) return { next: state, effects: [] };
  if (found.endAs !== undefined) return finish(state, run, { status: found.endAs });
  if (found.holds) return execute(state, run);
  return schedule(change(state, run, { stage: "queued" }), []);
}

function started(state: Slave, run: string): Step {
  const found = find(state, run, "starting");
  if (found === undefined) return { next: state, effects: [] };
  if (found.endAs !== undefined) return finish(state, run, { status: found.endAs });
  return execute(state, run);
}

function execute(state: Slave, run: string): Step {
  return {
    next: change(state, run, { stage: "running", executing: true }),
    effects: [{ kind: "execute", run }],
  };
}

function returned(state: Slave, run: string, outcome: Outcome): Step {
  const found = state.runs.find((one) => one.run === run);
  if (found === undefined) return { next: state, effects: [] };
  const idle = change(state, run, { executing: false });
  if (found.stage === "running") return finish(idle, run, outcome);
  if (found.stage === "draining") return schedule(without(idle, run), []);
  return { next: idle, effects: [] };
}

function finish(state: Slave, run: string, outcome: Outcome): Step {
  return {
    next: change(state, run, { stage: "ending" }),
    effects: [{ kind: "finish", run, outcome }],
  };
}

function ended(state: Slave, run: string): Step {
  const found = find(state, run, "ending");
  if (found === undefined) return { next: state, effects: [] };
  if (found.executing) return { next: change(state, run, { stage: "draining" }), effects: [] };
  return schedule(without(state, run), []);
}

/** Ends a run early. No effect means that there is no such run or it is ending already. */
function end(state: Slave, run: string, as: "cancelled" | "interrupted"): Step {
  const found = state.runs.find((one) => one.run === run);
  if (found === undefined || found.endAs !== undefined) return { next: state, effects: [] };
  const marked = change(state, run, { endAs: as });
  switch (found.stage) {
    case "accepting":
    case "starting":
      // What is in flight becomes durable first; then it ends without ever running.
      return { next: marked, effects: [{ kind: "abort", run }] };
    case "queued":
      return finish(marked, run, { status: as });
    case "running": {
      const step = finish(marked, run, { status: as });
      return { next: step.next, effects: [{ kind: "abort", run }, ...step.effects] };
    }
    default:
      return { next: state, effects: [] };
  }
}

function close(state: Slave): Step {
  let next: Slave = { ...state, over: state.over ?? "EHOSTDOWN" };
  const effects: SlaveEffect[] = [];
  for (const { run } of state.runs) {
    const one = end(next, run, "interrupted");
    next = one.next;
    effects.push(...one.effects);
  }
  return { next, effects };
}

/** The log is gone: nothing can be recorded, so everything is dropped but working executors. */
function failed(state: Slave, code: Code): Step {
  const executing = state.runs.filter((one) => one.executing);
  return {
    next: { over: code, runs: executing.map((one) => ({ ...one, stage: "draining" as const })) },
    effects: executing.map((one) => ({ kind: "abort" as const, run: one.run })),
  };
}

function schedule(state: Slave, effects: readonly SlaveEffect[]): Step {
  if (state.over !== undefined || state.runs.some((one) => one.holds)) {
    return { next: state, effects };
  }
  const first = state.runs.find((one) => one.stage === "queued");
  if (first === undefined) return { next: state, effects };
  return {
    next: change(state, first.run, { stage: "starting", holds: true }),
    effects: [...effects, { kind: "start", run: first.run }],
  };
}

function find(state: Slave, run: string, stage: Stage): RunState | undefined {
  return state.runs.find((one) => one.run === run && one.stage === stage);
}

function change(state: Slave, run: string, fields: Partial<RunState>): Slave {
  return {
    ...state,
    runs: state.runs.map((one) => (one.run === run ? { ...one, ...fields } : one)),
  };
}

function without(state: Slave, run: string): Slave {
  return { ...state, runs: state.runs.filter((one) => one.run !== run) };
}
