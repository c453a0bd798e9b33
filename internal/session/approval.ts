// The approvals of one run as a pure machine: a call is asked about, its origin answers once, and
// everything else denies. Time, the end of the run and the loss of the origin come in as events.
// Invariants: one call waits at a time, each call that is asked about is decided exactly once, and
// it is allowed only by an answer that came after it was shown and names exactly it.

import type { Code } from "../abi/mod.ts";

/** Answers of a run that are remembered, so that one that comes twice does nothing. */
export const rememberedAnswersMax = 64;

/** What the origin says about one call. Nothing in it is trusted but by comparing. */
export interface ApprovalAnswer {
  readonly run: string;
  readonly call: string;
  readonly decision: "allow_once" | "deny";
  /** Of a deny: what the model is told. */
  readonly reason?: string | undefined;
  /** The digest of what was shown; another one than the request's denies. */
  readonly digest?: string | undefined;
}

export type ApprovalDecision =
  | { readonly kind: "allowed" }
  /** `by`: the origin said so, or what it said could not count as an answer. */
  | { readonly kind: "denied"; readonly by: "answer" | "fault"; readonly reason?: string }
  | { readonly kind: "timed_out" | "origin_lost" | "cancelled" };

export interface Waiting {
  readonly call: string;
  readonly digest: string;
  /** The origin has been given the request. */
  readonly shown: boolean;
}

export interface Approvals {
  readonly run: string;
  readonly waiting: Waiting | undefined;
  /** Answers that decided, newest last. */
  readonly answers: readonly ApprovalAnswer[];
  /** Why nothing can be allowed any more. */
  readonly over: "origin_lost" | "cancelled" | undefined;
}

export type ApprovalEvent =
  | { readonly kind: "ask"; readonly call: string; readonly digest: string }
  | { readonly kind: "shown" | "timeout"; readonly call: string }
  | { readonly kind: "answer"; readonly answer: ApprovalAnswer }
  /** Something that was to be an answer and is none. */
  | { readonly kind: "malformed"; readonly reason: string }
  | { readonly kind: "origin_lost" | "cancelled" };

export type ApprovalEffect =
  | { readonly kind: "decide"; readonly call: string; readonly decision: ApprovalDecision }
  /** Told to whoever answered. */
  | { readonly kind: "refuse"; readonly code: Code; readonly message: string };

export interface ApprovalStep {
  readonly next: Approvals;
  readonly effects: readonly ApprovalEffect[];
}

export function noApprovals(run: string): Approvals {
  return { run, waiting: undefined, answers: [], over: undefined };
}

export function stepApprovals(state: Approvals, event: ApprovalEvent): ApprovalStep {
  const { waiting } = state;
  switch (event.kind) {
    case "ask":
      return ask(state, event.call, event.digest);
    case "shown":
      if (waiting?.call !== event.call) return { next: state, effects: [] };
      return { next: { ...state, waiting: { ...waiting, shown: true } }, effects: [] };
    case "timeout":
      if (waiting?.call !== event.call) return { next: state, effects: [] };
      return decide(state, { kind: "timed_out" });
    case "answer":
      return answer(state, event.answer);
    case "malformed":
      return waiting === undefined ? { next: state, effects: [] } : fault(state, event.reason, []);
    case "origin_lost":
    case "cancelled":
      return decide({ ...state, over: state.over ?? event.kind }, { kind: event.kind });
  }
}

function ask(state: Approvals, call: string, digest: string): ApprovalStep {
  const refused = (decision: ApprovalDecision): ApprovalStep => ({
    next: state,
    effects: [{ kind: "decide", call, decision }],
  });
  if (state.over !== undefined) return refused({ kind: state.over });
  if (state.waiting !== undefined) {
    const reason = `call "${state.waiting.call}" of the same run waits for an answer`;
    return refused({ kind: "denied", by: "fault", reason });
  }
  return { next: { ...state, waiting: { call, digest, shown: false } }, effects: [] };
}

function answer(state: Approvals, given: ApprovalAnswer): ApprovalStep {
  if (state.answers.some((one) => sameAnswer(one, given))) return { next: state, effects: [] };
  const { waiting } = state;
  if (waiting === undefined) {
    const code = state.answers.some((one) => one.call === given.call) ? "EALREADY" : "EINVAL";
    const message =
      code === "EALREADY"
        ? `call ${JSON.stringify(given.call)} was answered already`
        : "no call waits for an answer";
    return { next: state, effects: [{ kind: "refuse", code, message }] };
  }
  const reason = mismatch(state.run, waiting, given);
  if (reason !== undefined) {
    const message = `call "${waiting.call}" is denied: ${reason}`;
    return fault(state, reason, [{ kind: "refuse", code: "EINVAL", message }]);
  }
  const answers = [...state.answers, given].slice(-rememberedAnswersMax);
  if (given.decision === "allow_once") return decide({ ...state, answers }, { kind: "allowed" });
  const said = given.reason === undefined ? {} : { reason: given.reason };
  return decide({ ...state, answers }, { kind: "denied", by: "answer", ...said });
}

function mismatch(run: string, waiting: Waiting, given: ApprovalAnswer): string | undefined {
  if (given.run !== run) return "the answer names another run";
  if (given.call !== waiting.call) return "the answer names another call";
  if (given.digest !== undefined && given.digest !== waiting.digest) {
    return "the answer repeats another digest";
  }
  if (!waiting.shown) return "the answer came before the request was shown";
  return undefined;
}

function fault(state: Approvals, reason: string, effects: readonly ApprovalEffect[]): ApprovalStep {
  const step = decide(state, { kind: "denied", by: "fault", reason });
  return { next: step.next, effects: [...step.effects, ...effects] };
}

function decide(state: Approvals, decision: ApprovalDecision): ApprovalStep {
  const { waiting } = state;
  if (waiting === undefined) return { next: state, effects: [] };
  return {
    next: { ...state, waiting: undefined },
    effects: [{ kind: "decide", call: waiting.call, decision }],
  };
}

function sameAnswer(a: ApprovalAnswer, b: ApprovalAnswer): boolean {
  return (
    a.run === b.run &&
    a.call === b.call &&
    a.decision === b.decision &&
    a.reason === b.reason &&
    a.digest === b.digest
  );
}
