// The short forms: `ctx send …` is `ctx agent send AGENT …` with the agent as an option, which is
// CTX_AGENT or `coder` when nobody says it. Derived from the long form, so that both know the same.

import type { CommandSpec } from "./command.ts";

const agentWord = "<agent>";

export function shortForm(long: CommandSpec, defaultAgent: string): CommandSpec {
  const name = long.name.replace(/^agent /, "");
  const { agent: _agent, ...positionals } = long.positionals;
  const agent = {
    type: "string",
    describe: "Name of the agent, else CTX_AGENT",
    default: defaultAgent,
  } as const;
  return {
    ...long,
    name,
    words: long.words.replace(agentWord, "").trim(),
    positionals,
    options: { agent, ...long.options },
    examples: long.examples.map(([line, meaning]) => [shortLine(line), meaning] as const),
  };
}

/** `agent send reviewer hi` as `send --agent reviewer hi`, and without the default agent. */
function shortLine(line: string): string {
  return line
    .replace(/^agent ([a-z]+) coder\b/, "$1")
    .replace(/^agent ([a-z]+) ([a-z]+)\b/, "$1 --agent $2");
}
