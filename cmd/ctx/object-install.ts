// `ctx object install`: makes an object of a checked manifest appear, whole or not at all. It grants
// nothing and prints the lines that would.

import { note, print, printJson } from "../../internal/cli/mod.ts";
import {
  checkManifest,
  checkSchemas,
  type Installed,
  installObject,
} from "../../internal/install/mod.ts";
import { formatAllow } from "../../internal/policy/mod.ts";
import { agentNames, loadAgent, treeOwner } from "../../internal/tree/mod.ts";
import {
  type MissingLine,
  missingLines,
  modelRulings,
  printMissing,
  rule,
  toolRulings,
} from "./agent-grants.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { type Context, callerUid, openContext } from "./context.ts";
import { manifestsOf, printReceipt, tierOf, titleOf } from "./object-words.ts";
import { serverIdentity } from "./server-identity.ts";
import { tellServer } from "./tell-server.ts";

export const spec: CommandSpec = {
  name: "object install",
  words: "<manifest> [more..]",
  summary: "Installs a tool or an agent, and says which lines let somebody use it.",
  more:
    "The target is a source tree, never /ctx or another view. The executable appears last and\n" +
    "nothing is replaced without --replace, which changes only what was installed here, keeps\n" +
    "the policy as it is, and of an agent all but its program and its prompts.\n",
  positionals: { manifest: "File that describes the object", more: "More of them" },
  options: {
    tier: { type: "string", describe: "system (default), or user: the tools of your own home" },
    replace: { type: "boolean", describe: "Take the place of what was installed before" },
    agent: { type: "string", describe: "Agent whose lines are printed (default: coder)" },
  },
  examples: [
    [
      "object install --source /var/lib/cortexfs/storage/current github.search.manifest.json",
      "for everybody; two lines of policy let an agent use it",
    ],
    ["object install box.open.yaml --tier user", "into home/UID/tool"],
    ["object install github.search.manifest.json --replace", "accepts what a server changed"],
  ],
};

export async function run(args: Arguments): Promise<number> {
  const tier = tierOf(args);
  const paths = manifestsOf(args);
  const context = openContext(args);
  const { tree, places } = context;
  const uid = userOf(context);
  for (const path of paths) {
    const checked = checkManifest(path);
    let done: Installed;
    try {
      await checkSchemas(checked.manifest);
      const replace = args.flag("replace");
      done = installObject({ tree, places, checked, tier, uid, replace, now: new Date() });
    } finally {
      checked.close();
    }
    const served = done.class === "agent" && (await tellServer(places, done.name));
    report(args, done, served, await useOf(args, context, done));
  }
  return 0;
}

/** Whose home the user tier is: a person's own, and for root that of the tree's owner. */
function userOf({ tree }: Context): number {
  const uid = callerUid();
  return uid === 0 ? (treeOwner(tree.source)?.uid ?? uid) : uid;
}

interface Use {
  /** What is allowed at once, by policy lines that are there or that an agent's manifest has. */
  readonly may: readonly string[];
  readonly missing: readonly MissingLine[];
}

/** By whom and for what the object can be used now, and what is missing; for a tool, by one agent. */
async function useOf(
  args: Arguments,
  { tree, places }: Context,
  { class: kind, object, name }: Installed,
): Promise<Use> {
  const agents = agentNames(tree);
  const wanted = args.text("agent") ?? (process.env["CTX_AGENT"] || "coder");
  const agent = kind === "agent" ? name : wanted;
  if (!agents.includes(agent)) {
    if (args.text("agent") !== undefined) note(`agent "${agent}" does not exist`);
    return { may: [], missing: anybodysLines(object, name) };
  }
  const controls = loadAgent(tree, agent);
  const server = await serverIdentity(places);
  const input = { tree, agent, controls, server };
  const rulings =
    kind === "agent"
      ? [...toolRulings(input), ...modelRulings(input)]
      : [rule(input, { object: { class: "tool", name }, permission: "execute" })];
  const may = rulings.filter(({ verdict }) => verdict.allowed).map((one) => one.object);
  const missing = missingLines(rulings, args.text("source"));
  return { may: kind === "agent" ? [...may, ...ownLines(controls)] : may, missing };
}

/** What an agent's own policy decides alone, so that its line is all that it takes. */
function ownLines({ policy, label }: ReturnType<typeof loadAgent>): string[] {
  return policy.lines
    .filter(({ subject, object }) => subject === label.type && object.class !== "tool")
    .filter(({ object }) => object.class !== "model")
    .map(({ object, permission }) => `${object.class}:${object.name} ${permission}`);
}

/** With no agent to ask about: the two lines, as they are written for any. */
function anybodysLines(object: string, name: string): MissingLine[] {
  const line = formatAllow("TYPE", { class: "tool", name }, "execute");
  return ["agent/AGENT.d/policy", `${object}.d/policy`].map((file) => ({
    file,
    line,
    command: undefined,
  }));
}

function report(args: Arguments, done: Installed, served: boolean, { may, missing }: Use): void {
  const { object, receipt, kept } = done;
  if (args.flag("json")) {
    printJson({ object, installed: true, receipt, kept, served, may, missing });
    return;
  }
  print(`${receipt.previous === undefined ? "installed" : "replaced"} ${titleOf(object, receipt)}`);
  printReceipt(receipt);
  if (kept.length > 0) print(`  kept        ${kept.join(" ")}, as they were`);
  const isAgent = done.class === "agent" && may.length > 0;
  if (isAgent) print(`  may do      ${may.join(", ")}, by policy lines that are there`);
  const granted = `nothing${isAgent ? " else" : ""} was granted`;
  if (missing.length === 0) {
    print(`${granted}, and no line is missing`);
    return;
  }
  print(`${granted}; whoever wants it used adds these lines:`);
  printMissing(missing);
}
