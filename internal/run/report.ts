// How a failure reads: to the model as the observation of its call, to a person as a run's error.

import type { CodedError } from "../abi/mod.ts";
import { firstRefusal, type Question, type Verdict } from "../authority/mod.ts";
import type { ToolOutcome } from "../session/mod.ts";

/** The result of a call that was not run, or failed before it could say something itself. */
export function errorOutcome(error: CodedError): ToolOutcome {
  const hint = error.hint === undefined ? "" : `\nhint: ${error.hint}`;
  const output = `${error.message} [${error.code}]${hint}`;
  return { status: "error", code: error.code, output, dropped: 0 };
}

export function okOutcome(output: string): ToolOutcome {
  return { status: "ok", output, dropped: 0 };
}

/** A run's error has no room for a hint of its own. */
export function errorMessage(error: CodedError): string {
  return error.hint === undefined ? error.message : `${error.message}; ${error.hint}`;
}

/** The first layer that refused, and where the whole explanation is. */
export function refusalReason(verdict: Verdict): string {
  const layer = firstRefusal(verdict);
  if (layer === undefined) return "it is refused";
  return layer.at === undefined ? layer.because : `${layer.because} (${layer.at})`;
}

export function explainHint(agent: string, question: Question): string {
  const { object, permission } = question;
  return `see ctx policy explain ${agent} ${object.class}:${object.name} ${permission}`;
}
