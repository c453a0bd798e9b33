// What a change of an agent does, control by control, for a person who decides about it. Both the
// lines and their number are bounded; what is left out is counted.

import { print } from "../../internal/cli/mod.ts";
import type { AgentChange } from "../../internal/tree/mod.ts";

/** Lines shown of one control's difference. */
const changeLinesMax = 40;

/** Characters shown of one line. */
const lineCharsMax = 160;

export function printChanges(agent: string, changes: readonly AgentChange[]): void {
  for (const { what, before, after } of changes) {
    print(titleOf(agent, what, before));
    const lines = differing(before ?? "", after);
    for (const line of lines.slice(0, changeLinesMax)) print(`  ${cut(line)}`);
    if (lines.length > changeLinesMax) {
      print(`  … ${lines.length - changeLinesMax} more lines of difference`);
    }
  }
}

function titleOf(agent: string, what: AgentChange["what"], before: string | undefined): string {
  if (what === "program") return `agent/${agent} (program, sha256)`;
  if (what === "description") return `agent/${agent} (description)`;
  return `agent/${agent}.d/${what}${before === undefined ? " (new)" : ""}`;
}

function cut(line: string): string {
  return line.length <= lineCharsMax ? line : `${line.slice(0, lineCharsMax)}…`;
}

/** From the first line that differs to the last: `-` as it is, `+` as it would be. */
export function differing(before: string, after: string): string[] {
  const old = linesOf(before);
  const now = linesOf(after);
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  return [
    ...old.slice(head, old.length - tail).map((line) => `- ${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+ ${line}`),
  ];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
