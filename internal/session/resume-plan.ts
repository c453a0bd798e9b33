// Where a resume begins and where it ends. It begins after `after`: a sequence number, `evt-N`,
// `call-N`, or the id of a request. It ends with the done of the run that is active now, else at
// the head, with the last done told again when the replay does not end in one. Pure.

import { CodedError } from "../abi/mod.ts";
import type { OpFrame } from "../interaction/mod.ts";
import type { SessionFacts } from "./facts.ts";
import { eventId } from "./frames.ts";
import type { Slave } from "./slave.ts";
import type { StreamPlan } from "./stream.ts";

export interface ResumePlan {
  readonly after: number;
  readonly until: StreamPlan["until"];
}

/** Throws cursor_invalid. */
export function resumePlan(
  cursor: string | undefined,
  slave: Slave,
  facts: SessionFacts,
  head: number,
): ResumePlan {
  const after = positionOf(cursor, facts, head);
  // A run whose acceptance is not durable may yet be refused; then no done of it would ever come.
  const live = slave.runs.find(({ stage }) => stage !== "accepting" && stage !== "draining");
  if (live !== undefined) return { after, until: { kind: "run", run: live.run } };
  const last = facts.last && { run: facts.last.run, status: facts.last.status };
  const done: OpFrame = { type: "done", id: eventId(head), ...(last ?? { status: "ok" }) };
  return { after, until: { kind: "seq", seq: head, done } };
}

/** The sequence number after which replay begins. Throws cursor_invalid past the head. */
function positionOf(after: string | undefined, facts: SessionFacts, head: number): number {
  if (after === undefined) return 0;
  const digits = /^(?:evt-|call-)?(\d{1,15})$/.exec(after)?.[1];
  const seq = digits === undefined ? facts.requests.get(after)?.seq : Number(digits);
  if (seq === undefined) {
    throw new CodedError("cursor_invalid", `cursor ${JSON.stringify(after)} names nothing here`, {
      hint: `use a number up to the head, ${head}, or the id of an earlier frame`,
    });
  }
  if (seq > head) {
    throw new CodedError(
      "cursor_invalid",
      `cursor ${JSON.stringify(after)} is past the head, ${head}`,
    );
  }
  return seq;
}
