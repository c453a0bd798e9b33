// `ctx terminal status`: what is known of one terminal, running or ended, and whether it answers now.

import { print, printJson } from "../../internal/cli/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import {
  type LiveTerminal,
  lookAt,
  type ShownTerminal,
  shownFiles,
  stateText,
} from "./terminal-facts.ts";
import { filesOf, openTerminal, terminalOptions, terminalWord } from "./terminal-word.ts";

export const spec: CommandSpec = {
  name: "terminal status",
  words: "<terminal>",
  summary: "Shows a terminal's state, its size, or how it ended.",
  positionals: { terminal: terminalWord },
  options: terminalOptions,
  examples: [
    ["terminal status coder", "the current session's terminal"],
    ["terminal status terminal-coder-build --json", "by its id; status is the exit status"],
  ],
};

export async function run(args: Arguments): Promise<number> {
  const named = openTerminal(args, args.need("terminal"));
  const facts = shownFiles(filesOf(named));
  const live = await lookAt(named.context, named.name);
  if (args.flag("json")) printJson({ ...facts, ...live });
  else printFacts(facts, live);
  return 0;
}

function printFacts(facts: ShownTerminal, live: LiveTerminal): void {
  const size = live.cols === null ? "" : `, ${live.cols}x${live.rows}`;
  const claims = facts.state === "ready" || facts.state === "starting";
  const silent = claims && !live.reachable ? ", but nothing listens at its socket" : size;
  print(`terminal   ${facts.terminal}`);
  print(`state      ${stateText(facts)}${silent}`);
  if (facts.cwd !== null) print(`cwd        ${facts.cwd}`);
  if (facts.workspace !== null) print(`workspace  ${facts.workspace}`);
  if (facts.supervisor !== null) {
    print(`runs under ${facts.supervisor}${facts.unit === null ? "" : `, unit ${facts.unit}`}`);
  }
  if (facts.started_at !== null) print(`started    ${facts.started_at}`);
  if (facts.ended_at !== null) print(`ended      ${facts.ended_at}`);
}
