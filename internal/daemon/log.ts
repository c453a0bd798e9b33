// What the server says about itself: one JSON object a line on stderr. Names what happened, to which
// agent, with which code; never a prompt, an argument or a secret. Whoever collects it bounds it.

import { writeSync } from "node:fs";
import type { CodedError } from "../abi/mod.ts";

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type Log = (event: string, fields?: LogFields) => void;

/** A log on a descriptor. A reader that is gone or full loses lines, it never stops the server. */
export function createLog(fd = 2, now: () => Date = () => new Date()): Log {
  return (event, fields = {}) => {
    const line = `${JSON.stringify({ ts: now().toISOString(), event, ...fields })}\n`;
    try {
      writeSync(fd, line);
    } catch {
      // There is nowhere left to say it.
    }
  };
}

export function faultFields(error: CodedError): LogFields {
  return { code: error.code, message: error.message, hint: error.hint };
}
