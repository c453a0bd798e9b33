// What a step writes to standard error is for whoever looks after the agent: its log, and the end of
// an error's text. No model and no later step is ever shown it.

import { quoted } from "../abi/mod.ts";
import type { StepOutcome } from "../launch/mod.ts";
import type { RunContext } from "../session/mod.ts";
import { appendObjectLog, type Tree } from "../tree/mod.ts";

/** Characters of one step's standard error that the log keeps, its last ones. */
export const stderrLogCharsMax = 4096;

/** Characters of it in an error's text. */
const excerptCharsMax = 200;

export function logStderr(
  tree: Tree,
  { agent, session, run }: RunContext,
  step: number,
  { stderr, exit }: Pick<StepOutcome, "stderr" | "exit">,
): void {
  if (stderr === "") return;
  const text = tail(stderr, stderrLogCharsMax);
  const event = { type: "step.stderr", session, run, step, exit: exit ?? null, text };
  appendObjectLog(tree, `agent/${agent}.d/log`, event);
}

/** Its last line that is not empty, shortened and with nothing that a terminal would act on. */
export function stderrExcerpt(stderr: string): string {
  const last = stderr.trimEnd().split("\n").at(-1)?.trim() ?? "";
  if (last === "") return "";
  return `; it wrote ${quoted(tail(last, excerptCharsMax))}`;
}

function tail(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `…${text.slice(-charsMax)}`.toWellFormed();
}
