// How a failure looks to a person: program, failed action, subject, reason, code on one line, and
// a second line with what to do where there is something to do. A failure that nobody foresaw is
// our bug and says so; its stack is shown only under CTX_DEBUG=1.

import { coded, codes, isCoded, productCommit, productVersion } from "../abi/mod.ts";
import { escapeLine } from "./escape.ts";
import { isReaderGone } from "./output.ts";

export interface Report {
  readonly text: string;
  readonly exit: number;
}

/** True for errors that say what happened by a code; anything else thrown is a bug of ours. */
function isForeseen(thrown: unknown): boolean {
  if (isCoded(thrown)) return true;
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code);
}

export function reportError(program: string, thrown: unknown, debug: boolean): Report {
  if (isReaderGone(thrown)) return { text: "", exit: 0 };
  if (!isForeseen(thrown)) return reportBug(program, thrown, debug);
  const error = coded(thrown);
  const at = error.place;
  const place =
    at && !error.message.includes(at.file) ? `${at.file}:${at.line}:${at.column}: ` : "";
  let text = `${program}: ${escapeLine(place + error.message)} [${error.code}]\n`;
  if (error.hint !== undefined) text += `  hint: ${escapeLine(error.hint)}\n`;
  if (debug) text += stackOf(thrown);
  return { text, exit: codes[error.code].exit };
}

function reportBug(program: string, thrown: unknown, debug: boolean): Report {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  let text = `${program}: internal error: ${escapeLine(reason)} [EIO]\n`;
  text += debug
    ? stackOf(thrown)
    : `  hint: this is a bug of ${program} ${productVersion} (${productCommit}); report it on the ` +
      "CortexFS issue tracker with what the same command prints under CTX_DEBUG=1\n";
  return { text, exit: codes.EIO.exit };
}

function stackOf(thrown: unknown): string {
  const lines: string[] = [];
  for (let at: unknown = thrown; at instanceof Error; at = at.cause) {
    lines.push(...(at.stack ?? String(at)).split("\n"));
  }
  return lines.map((line) => `  ${escapeLine(line)}\n`).join("");
}
