// Reads the `after` of a resume: a sequence number, `evt-N`, `call-N`, or the id of a request.

import { CodedError } from "../abi/mod.ts";
import type { SessionFacts } from "./facts.ts";

/** The sequence number after which replay begins. Throws cursor_invalid past the head. */
export function positionOf(after: string | undefined, facts: SessionFacts, head: number): number {
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
