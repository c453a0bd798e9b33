// The records that end a run: its open calls get their one result, then why, then run.done. Pure.

import type { Code } from "../abi/mod.ts";
import type { OpFrame } from "../interaction/mod.ts";
import type { Entry } from "../session-log/mod.ts";
import type { SessionFacts } from "./facts.ts";
import { eventId } from "./frames.ts";
import type { Outcome } from "./slave.ts";

const cutCalls: Readonly<Record<Outcome["status"], readonly [Code, string]>> = {
  ok: ["EIO", "the run ended without this call's result"],
  error: ["EIO", "the run failed before this call's result"],
  cancelled: ["ECANCELED", "the run was cancelled"],
  interrupted: ["interrupted", "the call was cut by a stop of its host"],
};

export function endingEntries(facts: SessionFacts, run: string, outcome: Outcome): Entry[] {
  const { status } = outcome;
  const code = doneCode(outcome);
  const [callCode, callText] = cutCalls[status];
  const entries = facts.closeCalls(run, callCode, callText);
  if (status === "error") {
    const text = outcome.message ?? "the run failed";
    entries.push({ event: { type: "error", run, code: code ?? "EIO", text } });
  }
  if (status === "cancelled") entries.push({ event: { type: "run.cancel", run } });
  entries.push({
    event: { type: "run.done", run, status, ...(code === undefined ? {} : { code }) },
  });
  return entries;
}

/** What readers are told when the end itself cannot be recorded now: no record, so no seq. */
export function unrecordedEnd(
  head: number,
  run: string,
  error: { readonly code: Code; readonly message: string },
): OpFrame[] {
  const id = eventId(head);
  const { code, message } = error;
  return [
    { type: "error", id, run, code, message },
    { type: "done", id, run, status: "error", code },
  ];
}

function doneCode(outcome: Outcome): Code | undefined {
  switch (outcome.status) {
    case "ok":
      return undefined;
    case "error":
      return outcome.code ?? "EIO";
    case "cancelled":
      return "ECANCELED";
    case "interrupted":
      return "interrupted";
  }
}
