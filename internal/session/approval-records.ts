// What the log keeps of an approval: that it was asked for, and what came of it. The arguments are
// those of the call's own record. Pure.

import type { Code } from "../abi/mod.ts";
import type { Entry } from "../session-log/mod.ts";
import type { ApprovalDecision } from "./approval.ts";
import type { ApprovalFrame } from "./approver.ts";

export function requestEntry({ run, id, name, cwd, digest, expires_at }: ApprovalFrame): Entry {
  const about = { run, object: `tool/${name}`, call: id };
  return { event: { type: "approval.request", ...about, cwd, digest, expires_at } };
}

/** `status` is allowed, denied, timed_out or origin_lost. */
export function decisionEntry({ run, id, name }: ApprovalFrame, decision: ApprovalDecision): Entry {
  const about = { run, object: `tool/${name}`, call: id, status: decision.kind };
  if (decision.kind !== "denied") return { event: { type: "approval.result", ...about } };
  const text = decision.reason === undefined ? {} : { text: decision.reason };
  return { event: { type: "approval.result", ...about, by: decision.by, ...text } };
}

/** The end of a run, or of its host, is the end of what waits: `status` is cancelled or interrupted. */
export function unansweredEntry(
  about: { readonly run: string; readonly object: string; readonly call: string },
  code: Code,
): Entry {
  const status = code === "interrupted" ? "interrupted" : "cancelled";
  return { event: { type: "approval.result", ...about, status } };
}
