// The one who may answer for a run's calls, which is who sent its input, and the call that waits. It
// drives the machine of approvals with the things that happen: the frame that was taken, the answer,
// the time, the end. Of all streams only the one of the connection that sent the input holds it.

import { CodedError } from "../abi/mod.ts";
import type { OpFrame } from "../interaction/mod.ts";
import {
  type ApprovalAnswer,
  type ApprovalDecision,
  type ApprovalEvent,
  type Approvals,
  noApprovals,
  stepApprovals,
} from "./approval.ts";

export type ApprovalFrame = Extract<OpFrame, { type: "approval_request" }>;

export class Approver {
  #state: Approvals;
  #waiting:
    | {
        readonly frame: ApprovalFrame;
        readonly resolve: (decision: ApprovalDecision) => void;
        readonly timer: ReturnType<typeof setTimeout>;
      }
    | undefined;

  constructor(run: string) {
    this.#state = noApprovals(run);
  }

  /** Resolves with the decision about the frame's call, at the latest after `timeoutMs`. */
  ask(frame: ApprovalFrame, timeoutMs: number): Promise<ApprovalDecision> {
    const { promise, resolve } = Promise.withResolvers<ApprovalDecision>();
    const { id: call, digest } = frame;
    const { next, effects } = stepApprovals(this.#state, { kind: "ask", call, digest });
    this.#state = next;
    const [effect] = effects;
    if (effect?.kind === "decide") {
      resolve(effect.decision);
      return promise;
    }
    const timer = setTimeout(() => this.#advance({ kind: "timeout", call }), timeoutMs);
    this.#waiting = { frame, resolve, timer };
    return promise;
  }

  /** The request about a call, to be given to the origin now; undefined when it waits no more. */
  show(call: string, seq: number): ApprovalFrame | undefined {
    const frame = this.#waiting?.frame;
    if (frame?.id !== call) return undefined;
    this.#advance({ kind: "shown", call });
    return { ...frame, seq };
  }

  /** Throws what the answerer must be told; what waited is denied by an answer that does not fit. */
  answer(answer: ApprovalAnswer): void {
    this.#advance({ kind: "answer", answer });
  }

  malformed(reason: string): void {
    this.#advance({ kind: "malformed", reason });
  }

  /** Nobody can answer any more. */
  lost(): void {
    this.#advance({ kind: "origin_lost" });
  }

  /** The run is over. */
  end(): void {
    this.#advance({ kind: "cancelled" });
  }

  #advance(event: ApprovalEvent): void {
    const { next, effects } = stepApprovals(this.#state, event);
    this.#state = next;
    let refusal: CodedError | undefined;
    for (const effect of effects) {
      if (effect.kind === "refuse") refusal = new CodedError(effect.code, effect.message);
      else this.#decided(effect.decision);
    }
    if (refusal !== undefined) throw refusal;
  }

  #decided(decision: ApprovalDecision): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(waiting?.timer);
    waiting?.resolve(decision);
  }
}
