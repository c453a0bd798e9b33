// `ctx agent new`: makes an agent, whole or not at all, with the least authority that its description
// leaves it. It grants nothing in the policies of tools and prints the lines that would.

import { print, printJson } from "../../internal/cli/mod.ts";
import {
  type AgentDescription,
  type ControlTexts,
  checkNameFree,
  controlsOf,
  loadAgent,
  type NewAgent,
  type PlanContext,
  planAgent,
  publishAgent,
  refuseDescription,
} from "../../internal/tree/mod.ts";
import {
  type MissingLine,
  missingLines,
  modelRulings,
  printMissing,
  toolRulings,
} from "./agent-grants.ts";
import { agentOptions, describedAgent, planContext } from "./agent-options.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { openContext } from "./context.ts";
import { serverIdentity } from "./server-identity.ts";
import { tellServer } from "./tell-server.ts";

export const spec: CommandSpec = {
  name: "agent new",
  words: "<agent>",
  summary: "Makes an agent that may do the least, and says which lines give it more.",
  positionals: { agent: "Name of the new agent" },
  options: {
    ...agentOptions,
    "dry-run": { type: "boolean", describe: "Say what would be made and write nothing" },
  },
  examples: [
    ["agent new helper", "reads files, once the lines that are printed are added"],
    ["agent new helper --from helper.md --tools fs.read,fs.write --perm rw-", "from a file"],
    ["agent new counter --exec ./counter.sh", "a program that speaks sdk-envelope-v1"],
  ],
};

export async function run(args: Arguments): Promise<number> {
  const name = args.need("agent");
  const context = openContext(args);
  const plan = planContext(context);
  checkNameFree(context.tree, name);
  const description = describedAgent(args);
  try {
    const controls = planAgent(plan, name, description);
    const agent = newAgent(plan, name, controls, description);
    const dryRun = args.flag("dry-run");
    if (!dryRun) publishAgent(context.tree, agent);
    const served = dryRun ? false : await tellServer(context.places, name);
    const server = await serverIdentity(context.places);
    const loaded = dryRun ? controlsOf(controls) : loadAgent(context.tree, name);
    const input = { tree: context.tree, agent: name, controls: loaded, server };
    const rulings = [...toolRulings(input), ...modelRulings(input)];
    const missing = missingLines(rulings, args.text("source"));
    report(args, agent, { dryRun, served, missing });
    return 0;
  } finally {
    description.program?.close();
  }
}

export function newAgent(
  { owner }: PlanContext,
  name: string,
  controls: ControlTexts,
  { program, description }: AgentDescription,
): NewAgent {
  if (program !== undefined && description !== undefined)
    refuseDescription(description.place(1, 1));
  const executable: NewAgent["executable"] =
    program === undefined
      ? { kind: "model", description: description?.text.trim() }
      : { kind: "program", program };
  return { name, owner, controls, executable };
}

interface Outcome {
  readonly dryRun: boolean;
  readonly served: boolean;
  readonly missing: readonly MissingLine[];
}

function report(args: Arguments, agent: NewAgent, outcome: Outcome): void {
  const { dryRun, served, missing } = outcome;
  const { name, owner, controls, executable } = agent;
  if (args.flag("json")) {
    const texts = Object.fromEntries(controls);
    const made = { agent: name, made: !dryRun, kind: executable.kind, owner: owner.uid, served };
    printJson({ ...made, controls: texts, missing });
    return;
  }
  const word = (control: "model" | "perm" | "tools") =>
    (controls.get(control) ?? "").trim().replaceAll("\n", " ") || "none";
  const verb = dryRun ? "would make" : "made";
  const kind = executable.kind === "model" ? "model agent" : "program";
  print(`${verb} agent ${name} (${kind}) of uid ${owner.uid}`);
  print(`  model ${word("model")}, perm ${word("perm")}, tools ${word("tools")}`);
  printAdvice(name, missing, dryRun);
}

/** What is left for a person to do before the agent can do what its description says. */
export function printAdvice(name: string, missing: readonly MissingLine[], dryRun = false): void {
  if (missing.length > 0) {
    print("nothing else was granted; for all that it names, these lines are missing:");
    printMissing(missing);
  }
  if (!dryRun) print(`see ctx agent check ${name}, or say hello with ctx agent send ${name} hi`);
}
