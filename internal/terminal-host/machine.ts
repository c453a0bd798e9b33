// The calls of one terminal as a machine: whether a shell serves, whose turn it is, how each call ends.
// Pure: time comes in as an event, and what should happen is given back. The invariant is that a call
// is settled exactly once, and that nothing of it is said to the shell before its turn or after its end.

import type { ShellLine, StopWord } from "../capability/mod.ts";
import { callsWaitingMax, shellAbsentMsMax, stopMsMax } from "./bounds.ts";

/** How a call ended. */
export type Ending =
  | { readonly kind: "exit"; readonly status: number }
  | { readonly kind: "unstarted"; readonly message: string }
  /** `by` who wanted it: the run, the clock, or a person at the terminal. */
  | { readonly kind: "stopped"; readonly by: "run" | "clock" | "person"; readonly began: boolean }
  /** The terminal or its shell went away while it had the call. */
  | { readonly kind: "lost"; readonly began: boolean }
  /** It was never said to a shell, and none serves. */
  | { readonly kind: "absent" }
  | { readonly kind: "busy" };

export type TimerKind = "wait" | "run" | "stop";

export type MachineEvent =
  | { readonly type: "ask"; readonly id: string; readonly timeoutMs: number }
  /** The run does not want the call any more. */
  | { readonly type: "unwanted"; readonly id: string }
  | { readonly type: "serves" }
  | { readonly type: "left" }
  | { readonly type: "line"; readonly line: ShellLine }
  | { readonly type: "timer"; readonly id: string; readonly kind: TimerKind }
  | { readonly type: "absent" }
  /** The terminal is over. */
  | { readonly type: "over" };

export type Effect =
  | { readonly type: "push"; readonly id: string }
  | { readonly type: "cancel"; readonly id: string; readonly reason: StopWord }
  | { readonly type: "output"; readonly line: Extract<ShellLine, { type: "output" }> }
  | { readonly type: "settle"; readonly id: string; readonly ending: Ending }
  /** The one timer of a call; a new one takes the place of the one before, settling ends it. */
  | { readonly type: "arm"; readonly id: string; readonly kind: TimerKind; readonly ms: number }
  | { readonly type: "arm-absent"; readonly ms: number }
  | { readonly type: "disarm-absent" }
  /** The shell broke the rules, or does not answer. */
  | { readonly type: "cut"; readonly because: string };

interface Call {
  readonly id: string;
  readonly timeoutMs: number;
  /** Waits for its turn; was said to the shell; runs. */
  readonly phase: "waiting" | "sent" | "running";
  /** It is to end: the shell was told. */
  readonly stopping?: "run" | "clock";
}

export interface Calls {
  readonly shell: "absent" | "expected" | "serves" | "over";
  /** The first one's turn it is. */
  readonly calls: readonly Call[];
}

interface Step {
  readonly next: Calls;
  readonly effects: readonly Effect[];
}

/** A shell is expected when the terminal has just been made, or was found again. */
export function newCalls(): Step {
  const effects = [{ type: "arm-absent", ms: shellAbsentMsMax }] as const;
  return { next: { shell: "expected", calls: [] }, effects };
}

export function step(state: Calls, event: MachineEvent): Step {
  switch (event.type) {
    case "ask":
      return ask(state, event);
    case "unwanted":
      return unwanted(state, event.id, "run");
    case "serves":
      return served(state);
    case "left":
      return left(state, []);
    case "line":
      return heard(state, event.line);
    case "timer":
      return timed(state, event);
    case "absent":
      return state.shell === "expected" ? alone(state, "absent") : same(state);
    case "over":
      return over(state);
  }
}

const same = (next: Calls): Step => ({ next, effects: [] });

const settle = (id: string, ending: Ending): Effect => ({ type: "settle", id, ending });

function ask(state: Calls, { id, timeoutMs }: Extract<MachineEvent, { type: "ask" }>): Step {
  if (state.shell === "absent" || state.shell === "over") {
    return { next: state, effects: [settle(id, { kind: "absent" })] };
  }
  if (state.calls.length > callsWaitingMax) {
    return { next: state, effects: [settle(id, { kind: "busy" })] };
  }
  const calls = [...state.calls, { id, timeoutMs, phase: "waiting" as const }];
  const armed: Effect = { type: "arm", id, kind: "wait", ms: timeoutMs };
  const pushed = pushFirst({ ...state, calls });
  return { next: pushed.next, effects: [armed, ...pushed.effects] };
}

/** The first call's turn has come, if there is somebody to tell. */
function pushFirst(state: Calls): Step {
  const [first, ...rest] = state.calls;
  if (state.shell !== "serves" || first === undefined || first.phase !== "waiting") {
    return same(state);
  }
  const calls = [{ ...first, phase: "sent" as const }, ...rest];
  return { next: { ...state, calls }, effects: [{ type: "push", id: first.id }] };
}

function served(state: Calls): Step {
  if (state.shell === "serves" || state.shell === "over") return same(state);
  const pushed = pushFirst({ ...state, shell: "serves" });
  const disarm: Effect[] = state.shell === "expected" ? [{ type: "disarm-absent" }] : [];
  return { next: pushed.next, effects: [...disarm, ...pushed.effects] };
}

/** What it had is lost; what it was not told of waits for the next one. */
function left(state: Calls, before: readonly Effect[]): Step {
  if (state.shell !== "serves") return { next: state, effects: before };
  const had = state.calls.filter(({ phase }) => phase !== "waiting");
  const lost = had.map(({ id, phase }) => settle(id, { kind: "lost", began: phase === "running" }));
  const calls = state.calls.filter((call) => !had.includes(call));
  const arm: Effect = { type: "arm-absent", ms: shellAbsentMsMax };
  return { next: { shell: "expected", calls }, effects: [...before, ...lost, arm] };
}

function alone(state: Calls, shell: "absent" | "over"): Step {
  const effects = state.calls.map(({ id }) => settle(id, { kind: "absent" }));
  return { next: { shell, calls: [] }, effects };
}

function over(state: Calls): Step {
  if (state.shell === "over") return same(state);
  const gone = left(state, []);
  const ended = alone(gone.next, "over");
  const disarm: Effect = { type: "disarm-absent" };
  return { next: ended.next, effects: [...gone.effects, ...ended.effects, disarm] };
}

/** The shell is not believed any more; what it had is lost. */
function cut(state: Calls, because: string): Step {
  return left(state, [{ type: "cut", because }]);
}

/** Ends a call in whatever phase it is. */
function unwanted(state: Calls, id: string, by: "run" | "clock"): Step {
  const call = state.calls.find((one) => one.id === id);
  if (call === undefined || call.stopping !== undefined) return same(state);
  if (call.phase === "waiting") return finish(state, id, { kind: "stopped", by, began: false });
  const calls = state.calls.map((one) => (one === call ? { ...call, stopping: by } : one));
  return {
    next: { ...state, calls },
    effects: [
      { type: "cancel", id, reason: by === "run" ? "cancelled" : "timeout" },
      { type: "arm", id, kind: "stop", ms: stopMsMax },
    ],
  };
}

function finish(state: Calls, id: string, ending: Ending): Step {
  const calls = state.calls.filter((one) => one.id !== id);
  const pushed = pushFirst({ ...state, calls });
  return { next: pushed.next, effects: [settle(id, ending), ...pushed.effects] };
}

function timed(state: Calls, { id, kind }: Extract<MachineEvent, { type: "timer" }>): Step {
  const call = state.calls.find((one) => one.id === id);
  if (call === undefined) return same(state);
  if (kind !== "stop") return unwanted(state, id, "clock");
  return cut(state, "it did not end a call that it was told to end");
}

function heard(state: Calls, line: ShellLine): Step {
  const [call] = state.calls;
  if (state.shell !== "serves") return same(state);
  if (call === undefined || call.phase === "waiting" || call.id !== line.id) {
    return cut(state, `it spoke of call ${JSON.stringify(line.id)}, which is not its call`);
  }
  switch (line.type) {
    case "begin":
      return begun(state, call);
    case "output":
      if (call.phase !== "running")
        return cut(state, "it sent output of a call that had not begun");
      return { next: state, effects: [{ type: "output", line }] };
    case "end":
      return ended(state, call, line);
  }
}

function begun(state: Calls, call: Call): Step {
  if (call.phase === "running") return cut(state, "it began a call twice");
  const running = { ...call, phase: "running" as const };
  const next = { ...state, calls: state.calls.map((one) => (one === call ? running : one)) };
  // One that is to end keeps the time that it has for that.
  if (call.stopping !== undefined) return same(next);
  return { next, effects: [{ type: "arm", id: call.id, kind: "run", ms: call.timeoutMs }] };
}

function ended(state: Calls, call: Call, line: Extract<ShellLine, { type: "end" }>): Step {
  const began = call.phase === "running";
  const { id } = call;
  const { exit, signal, stopped, message } = line;
  if (exit !== null && !began) return cut(state, "it ended a call that had not begun");
  if (exit !== null) return finish(state, id, { kind: "exit", status: exit });
  if (call.stopping !== undefined) {
    return finish(state, id, { kind: "stopped", by: call.stopping, began });
  }
  if (stopped !== undefined) {
    const by = stopped === "timeout" ? "clock" : "person";
    return finish(state, id, { kind: "stopped", by, began });
  }
  if (signal !== undefined && began) {
    return finish(state, id, { kind: "exit", status: 128 + signal });
  }
  if (message !== undefined) return finish(state, id, { kind: "unstarted", message });
  return cut(state, "it ended a call without saying how");
}
