// Which terminal a command means: named by its id, `terminal-<agent>-<session>`, or by its agent, and
// then it is that of the session which the other commands would use.

import { fail, isObjectName, sessionName } from "../../internal/abi/mod.ts";
import {
  historyLines,
  readTerminal,
  subject,
  type TerminalFiles,
  type TerminalName,
  terminalId,
} from "../../internal/client/mod.ts";
import { parseRecord, type TerminalRecord } from "../../internal/terminal-wire/mod.ts";
import { agentNames } from "../../internal/tree/mod.ts";
import type { Arguments } from "./command.ts";
import { type AgentContext, becomeOwner, loadAgentContext, openContext } from "./context.ts";
import { sessionOf, sessionOptions } from "./session-option.ts";

/** Terminals are of private sessions. */
export const terminalOptions = { session: sessionOptions.session } as const;

export const terminalWord = "Id of the terminal, or name of its agent";

export interface NamedTerminal {
  readonly id: string;
  readonly context: AgentContext;
  readonly name: TerminalName;
}

/** Finds it, and a caller who is root becomes its owner after `before` was done. */
export function openTerminal(
  args: Arguments,
  word: string,
  before: () => void = () => {},
): NamedTerminal {
  const { agent, session } = parts(args, word);
  const context = loadAgentContext(args, agent);
  before();
  becomeOwner(context.controls.owner, context.controls.gid);
  const { owner } = context.controls;
  const name = { agent, owner, session: session ?? sessionOf(args, context) };
  return { context, name, id: terminalId(name) };
}

/** Throws ENOENT for a session that never had one. */
export function filesOf({ context, name }: NamedTerminal): TerminalFiles {
  const files = readTerminal(context.tree.source, name);
  if (files !== undefined) return files;
  return fail("ENOENT", `${subject(name)} never had a terminal`, {
    hint: `start one with ctx agent start ${name.agent} --session ${name.session}`,
  });
}

/** What it showed. Lines of later versions and damaged ones are passed over. */
export function* historyOf(named: NamedTerminal): Generator<TerminalRecord> {
  filesOf(named);
  for (const line of historyLines(named.context.tree.source, named.name)) {
    const result = parseRecord(line);
    if (result.ok) yield result.record;
  }
}

interface Parts {
  readonly agent: string;
  /** Undefined when the word names the agent alone. */
  readonly session: string | undefined;
}

function parts(args: Arguments, word: string): Parts {
  const { tree } = openContext(args);
  const agents = agentNames(tree);
  if (agents.includes(word) || !word.startsWith("terminal-")) {
    return { agent: word, session: undefined };
  }
  if (args.text("session") !== undefined) {
    fail("EINVAL", `${JSON.stringify(word)} names its session already`, {
      hint: "leave out --session, or name the agent",
    });
  }
  // Both names may hold dashes, so the tree decides where one ends.
  const possible = agents
    .filter((agent) => word.startsWith(`terminal-${agent}-`))
    .map((agent) => ({ agent, session: word.slice(`terminal-${agent}-`.length) }))
    .filter(({ session }) => isObjectName(session));
  const known = possible.filter(
    ({ agent, session }) => possible.length === 1 || exists(args, agent, session),
  );
  const [one, other] = known;
  if (one === undefined) {
    return fail("ENOENT", `there is no terminal ${JSON.stringify(word)}`, {
      hint: "see ctx terminal list",
    });
  }
  if (other === undefined) return { agent: one.agent, session: sessionName(one.session) };
  return fail("EINVAL", `${JSON.stringify(word)} could be of several agents`, {
    hint: `write ${known.map((each) => `${each.agent} --session ${each.session}`).join(" or ")}`,
  });
}

function exists(args: Arguments, agent: string, session: string): boolean {
  const { tree, controls } = loadAgentContext(args, agent);
  return readTerminal(tree.source, { agent, session, owner: controls.owner }) !== undefined;
}
