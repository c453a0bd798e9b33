// What a conformance run says: TAP 14 for people and harnesses, one JSON object a talk for programs.
// A talk that is marked draft may fail: TAP has a directive for that, and it fails no run.

import type { Outcome } from "./play.ts";

export interface Summary {
  readonly passed: number;
  readonly failed: number;
  /** Drafts that fail. */
  readonly todo: number;
  /** Not played, for want of what they need. */
  readonly skipped: number;
}

export function summaryOf(outcomes: readonly Outcome[]): Summary {
  const played = outcomes.filter(({ skipped }) => skipped === undefined);
  const failed = played.filter(({ failure }) => failure !== undefined);
  const todo = failed.filter(({ talk }) => talk.draft).length;
  return {
    passed: played.length - failed.length,
    failed: failed.length - todo,
    todo,
    skipped: outcomes.length - played.length,
  };
}

export function tapPlan(count: number): string {
  return `TAP version 14\n1..${count}\n`;
}

/** The test point of one talk, `number` from 1, with a YAML block when it failed. */
export function tapPoint(number: number, outcome: Outcome): string {
  const { talk, failure, skipped, milliseconds } = outcome;
  if (skipped !== undefined) return `ok ${number} - ${talk.name} # SKIP ${skipped}\n`;
  const verdict = failure === undefined ? "ok" : "not ok";
  const todo = talk.draft ? " # TODO draft" : "";
  const point = `${verdict} ${number} - ${talk.name}${todo}\n`;
  if (failure === undefined) return point;
  const { line, on, path, reason, expected, came } = failure;
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ["golden", talk.file],
    ["line", line],
    ["about", talk.about],
    ["connection", on],
    ["reason", reason],
    ["path", path],
    ["expected", expected],
    ["came", came],
    ["milliseconds", milliseconds],
  ];
  const block = facts
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `  ${name}: ${yamlScalar(value as string | number)}\n`);
  return `${point}  ---\n${block.join("")}  ...\n`;
}

export function tapEnd({ passed, failed, todo, skipped }: Summary): string {
  const hint =
    failed > 0 ? "# the talks need an agent whose model is debug/script: see ctx abi\n" : "";
  return `# ${passed} passed, ${failed} failed, ${todo} todo, ${skipped} skipped\n${hint}`;
}

/** A talk that was not played has `skipped` and no `ok`. */
export function jsonOutcome(outcome: Outcome): Record<string, unknown> {
  const { talk, failure, skipped, milliseconds } = outcome;
  const { name, file, draft } = talk;
  if (skipped !== undefined) return { talk: name, golden: file, draft, skipped };
  return { talk: name, golden: file, ok: failure === undefined, draft, milliseconds, ...failure };
}

/**
 * A double-quoted YAML scalar. JSON's escapes are YAML's; what ends a line in YAML goes as well, and what
 * turns the direction of text: a server that is wrong must not rewrite the report about it.
 */
function yamlScalar(value: string | number): string {
  if (typeof value === "number") return String(value);
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
