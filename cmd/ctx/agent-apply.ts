// `ctx agent apply`: makes an agent equal to its description, after showing what that changes. What
// the description does not name is kept, so a second apply has nothing to do.

import { fail } from "../../internal/abi/mod.ts";
import { isTerminal, note, notePart, print, printJson } from "../../internal/cli/mod.ts";
import {
  type AgentChange,
  type AgentDescription,
  agentNames,
  applyChange,
  checkNameFree,
  controlsOf,
  loadAgent,
  type PlanContext,
  planAgent,
  planChange,
  publishAgent,
  readAgentDescription,
} from "../../internal/tree/mod.ts";
import { printChanges } from "./agent-diff.ts";
import { missingLines, modelRulings, toolRulings } from "./agent-grants.ts";
import { newAgent, printAdvice } from "./agent-new.ts";
import { planContext } from "./agent-options.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { type Context, openContext } from "./context.ts";
import { serverIdentity } from "./server-identity.ts";
import { tellServer } from "./tell-server.ts";

export const spec: CommandSpec = {
  name: "agent apply",
  words: "<description> [agent]",
  summary: "Makes an agent equal to its description and keeps what that does not name.",
  positionals: {
    description: "Markdown file with front matter, or folder of control files",
    agent: "Name of the agent (default: the file's or folder's)",
  },
  options: {
    "dry-run": { type: "boolean", describe: "Show the difference and write nothing" },
    yes: { type: "boolean", describe: "Write without asking" },
  },
  examples: [
    ["agent apply helper.md", "shows the difference and asks"],
    ["agent apply ./helper.d helper --yes", "from a folder, in a script"],
  ],
};

interface Work {
  readonly isNew: boolean;
  readonly changes: readonly AgentChange[];
  readonly controls: ReturnType<typeof controlsOf>;
  write(): void;
}

export async function run(args: Arguments): Promise<number> {
  const context = openContext(args);
  const plan = planContext(context);
  const description = readAgentDescription(args.need("description"));
  try {
    const name = args.text("agent") ?? description.name ?? "";
    const work = agentNames(context.tree).includes(name)
      ? workOnOld(plan, name, description)
      : workOnNew(plan, name, description);
    return await carryOut(args, context, name, work);
  } finally {
    description.program?.close();
  }
}

function workOnOld(plan: PlanContext, name: string, description: AgentDescription): Work {
  const { changes, controls } = planChange(plan, name, description);
  const write = () => applyChange(plan, name, description, changes);
  return { isNew: false, changes, controls: controlsOf(controls), write };
}

function workOnNew(plan: PlanContext, name: string, description: AgentDescription): Work {
  const controls = planAgent(plan, name, description);
  checkNameFree(plan.tree, name);
  const agent = newAgent(plan, name, controls, description);
  const changes: AgentChange[] = [...controls].map(([what, after]) => ({
    what,
    before: undefined,
    after,
  }));
  const { executable } = agent;
  if (executable.kind === "program") {
    changes.push({ what: "program", before: undefined, after: executable.program.digest });
  } else if (executable.description !== undefined) {
    changes.push({ what: "description", before: undefined, after: `${executable.description}\n` });
  }
  const write = () => publishAgent(plan.tree, agent);
  return { isNew: true, changes, controls: controlsOf(controls), write };
}

async function carryOut(
  args: Arguments,
  context: Context,
  name: string,
  work: Work,
): Promise<number> {
  const { changes, isNew } = work;
  const json = args.flag("json");
  const dryRun = args.flag("dry-run");
  if (!json) {
    if (changes.length === 0) print(`agent ${name} is so already, nothing to do`);
    else printChanges(name, changes);
  }
  const wanted = changes.length > 0 && !dryRun;
  if (wanted && !args.flag("yes") && !(await confirmed(name, isNew, json))) return 1;
  if (wanted) work.write();
  if (wanted) await tellServer(context.places, name);
  const missing = await missingOf(args, context, name, wanted ? undefined : work.controls);
  if (json) printJson({ agent: name, new: isNew, applied: wanted, changes, missing });
  else if (changes.length > 0) {
    if (wanted) print(`${isNew ? "made" : "changed"} agent ${name}`);
    printAdvice(name, missing, dryRun);
  }
  return 0;
}

async function missingOf(
  args: Arguments,
  { tree, places }: Context,
  agent: string,
  planned: Work["controls"] | undefined,
) {
  const server = await serverIdentity(places);
  const controls = planned ?? loadAgent(tree, agent);
  const input = { tree, agent, controls, server };
  return missingLines([...toolRulings(input), ...modelRulings(input)], args.text("source"));
}

/** Asks the person at the terminal; without one nobody can say yes but by the option. */
async function confirmed(name: string, isNew: boolean, json: boolean): Promise<boolean> {
  if (json || !isTerminal(0) || !isTerminal(2)) {
    note("nothing is written: say --yes to write without being asked");
    return false;
  }
  notePart(`${isNew ? "make" : "change"} agent ${name} so? y or n: `);
  const line = await firstLine();
  if (/^\s*y(es)?\s*$/i.test(line)) return true;
  note("nothing is written");
  return false;
}

/** Bytes of an answer. Past it EMSGSIZE. */
const answerBytesMax = 4096;

async function firstLine(): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of Bun.stdin.stream()) {
    text += decoder.decode(part, { stream: true });
    if (text.includes("\n")) break;
    if (text.length > answerBytesMax) fail("EMSGSIZE", "the answer is too long");
  }
  return text.split("\n", 1)[0] ?? "";
}
