// Answers the approval requests of one followed run. Who decides is given: a list of tools, or a
// person. A call that was decided otherwise (the time ran out, the run was cancelled) asks no more.

import { note } from "../../internal/cli/mod.ts";
import type { ApproveRequest, OpFrame } from "../../internal/interaction/mod.ts";

export type ApprovalFrame = Extract<OpFrame, { type: "approval_request" }>;

export type Decision =
  | { readonly decision: "allow_once" }
  | { readonly decision: "deny"; readonly reason?: string };

/** Undefined when the call was over before anybody decided. `over` says so while it decides. */
export type Decide = (frame: ApprovalFrame, over: AbortSignal) => Promise<Decision | undefined>;

export class ApprovalDesk {
  readonly #decide: Decide;
  readonly #waiting = new Map<string, AbortController>();

  constructor(decide: Decide) {
    this.#decide = decide;
  }

  open(frame: ApprovalFrame, answer: (request: ApproveRequest) => void): void {
    const { run, id, digest } = frame;
    const over = new AbortController();
    this.#waiting.set(id, over);
    const deny = { decision: "deny", reason: "the client failed" } as const;
    void this.#decide(frame, over.signal)
      .catch(() => deny)
      .then((decided) => {
        if (decided === undefined || over.signal.aborted) return;
        const { decision, reason } = { reason: undefined, ...decided };
        answer({ op: "approve", run, id, decision, reason, digest });
      });
  }

  /** A result says that its call waits no more, whoever decided. */
  see(frame: OpFrame): void {
    if (frame.type === "tool_result") this.#end(frame.id);
    if (frame.type === "done") this.close();
  }

  close(): void {
    for (const id of [...this.#waiting.keys()]) this.#end(id);
  }

  #end(id: string): void {
    this.#waiting.get(id)?.abort();
    this.#waiting.delete(id);
  }
}

/** Allows exactly these tools, each call once; denies everything else at once. */
export function allowListed(tools: readonly string[]): Decide {
  return async ({ name }) => {
    if (tools.includes(name)) return { decision: "allow_once" };
    note(`denied ${name}: it asks for approval; allow it with --approve ${name}, or use a chat`);
    return {
      decision: "deny",
      reason: `nobody was asked: the message came without approval for it`,
    };
  };
}

/** Where nobody can be asked. */
export const denyAll: Decide = async ({ name }) => {
  note(`denied ${name}: it asks for approval and there is no terminal to ask on`);
  return { decision: "deny", reason: "nobody could be asked" };
};
