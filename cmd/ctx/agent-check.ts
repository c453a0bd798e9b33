// `ctx agent check`: every control of an agent with its value or what is wrong with it, then in plain
// words what the agent may do, by the function that enforces it, and the lines that are missing.

import { statSync } from "node:fs";
import { coded, fail, objectName } from "../../internal/abi/mod.ts";
import { firstRefusal } from "../../internal/authority/mod.ts";
import { printJson } from "../../internal/cli/mod.ts";
import {
  agentNames,
  isModelAgent,
  loadAgent,
  type Places,
  resolveAlias,
  toolNames,
} from "../../internal/tree/mod.ts";
import { type ControlFinding, controlFindings } from "./agent-controls.ts";
import {
  type GrantInput,
  type MissingLine,
  missingLines,
  modelRulings,
  type Ruling,
  rule,
  toolRulings,
} from "./agent-grants.ts";
import { printReport } from "./agent-report.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { type Context, openContext } from "./context.ts";
import { serverIdentity } from "./server-identity.ts";

export const spec: CommandSpec = {
  name: "agent check",
  words: "<agent>",
  summary: "Shows every control of an agent, what it may do and which lines are missing.",
  positionals: { agent: "Name of the agent" },
  options: {},
  examples: [["agent check helper", "exit status 0 when it can run with every tool that it lists"]],
};

export interface ToolReport {
  readonly tool: string;
  readonly allowed: boolean;
  /** Listed in `tools`, or found through `tsh`. */
  readonly listed: boolean;
  readonly layer?: string | undefined;
  readonly because?: string | undefined;
}

export interface ModelReport {
  readonly model: string;
  readonly usable: boolean;
  readonly because?: string | undefined;
}

export interface MountReport {
  readonly source: string;
  readonly target: string;
  readonly access: "ro" | "rw";
  readonly found: "folder" | "file" | "other" | "missing" | "unknown";
}

export interface CheckReport {
  readonly agent: string;
  /** It can run, with every tool that it lists. */
  readonly ready: boolean;
  readonly faults: readonly string[];
  readonly kind?: "model" | "program" | undefined;
  readonly controls: readonly ControlFinding[];
  readonly identity?: { readonly allowed: boolean; readonly because: string } | undefined;
  readonly perm?: GrantInput["controls"]["perm"] | undefined;
  readonly approval?: "auto" | "ask" | undefined;
  readonly tools: readonly ToolReport[];
  readonly models: readonly ModelReport[];
  readonly network?: boolean | undefined;
  readonly mounts: readonly MountReport[];
  readonly missing: readonly MissingLine[];
}

export async function run(args: Arguments): Promise<number> {
  const context = openContext(args);
  const agent = objectName("agent", args.need("agent"));
  const report = await examine(context, agent, args.text("source"));
  if (args.flag("json")) printJson(report);
  else printReport(report);
  return report.ready ? 0 : 1;
}

async function examine(
  context: Context,
  agent: string,
  source: string | undefined,
): Promise<CheckReport> {
  const { tree, places } = context;
  const controls = controlFindings(tree, agent);
  if (
    !agentNames(tree).includes(agent) &&
    controls.every(({ text, state }) => text === undefined && state !== "malformed")
  ) {
    fail("ENOENT", `agent ${JSON.stringify(agent)} does not exist`, { hint: "see ctx agent list" });
  }
  let loaded: ReturnType<typeof loadAgent>;
  try {
    loaded = loadAgent(tree, agent);
  } catch (error) {
    const faults = controls.flatMap(({ fault }) => fault ?? []);
    const own = coded(error);
    const all = faults.length > 0 ? faults : [own.message];
    return {
      agent,
      ready: false,
      faults: all,
      controls,
      tools: [],
      models: [],
      mounts: [],
      missing: [],
    };
  }
  const server = await serverIdentity(places);
  const input = { tree, agent, controls: loaded, server };
  return { ...(await rulingsOf(input, places, controls, source)), agent, controls };
}

async function rulingsOf(
  input: GrantInput,
  places: Places,
  findings: readonly ControlFinding[],
  source: string | undefined,
): Promise<Omit<CheckReport, "agent" | "controls">> {
  const { tree, agent, controls } = input;
  const kind = isModelAgent(tree, agent) ? "model" : "program";
  const network = rule(input, {
    object: { class: "network", name: "default" },
    permission: "connect",
  });
  const identity = network.verdict.layers.find(({ layer }) => layer === "identity");
  const listed = toolRulings(input);
  const models = modelRulings(input);
  const modelReports = await Promise.all(
    models.map((ruling) => modelReport(input, places, ruling)),
  );
  const dead = deadAliases(input);
  const mounts = mountReports(input);
  const faults = [
    ...findings.flatMap(({ fault }) => fault ?? []),
    ...(identity?.allowed === false ? [`it cannot be launched: ${identity.because}`] : []),
    ...listed
      .filter(({ name, refusal }) => name !== "tsh" && refusal !== undefined)
      .map(({ name }) => `tool ${name} is listed and cannot be used`),
    ...mounts
      .filter(({ found }) => found === "missing")
      .map(({ source: folder }) => `mount source ${folder} does not exist`),
    ...(kind === "model" && !modelReports.some(({ usable }) => usable)
      ? ["it is a model agent and can use no model"]
      : []),
  ];
  return {
    ready: faults.length === 0,
    faults,
    kind,
    identity: identity && { allowed: identity.allowed, because: identity.because },
    perm: controls.perm,
    approval: controls.approval,
    tools: [
      ...listed.map((ruling) => toolReport(ruling, true)),
      ...otherTools(input, listed).map((ruling) => toolReport(ruling, false)),
    ],
    models: [...modelReports, ...dead],
    network: network.verdict.allowed,
    mounts,
    missing: missingLines([...listed, ...models], source),
  };
}

function toolReport({ name, verdict, refusal }: Ruling, listed: boolean): ToolReport {
  return {
    tool: name,
    allowed: verdict.allowed,
    listed,
    layer: refusal?.layer,
    because: refusal?.because,
  };
}

/** What it may call through `tsh` beside the tools that it lists. */
function otherTools(input: GrantInput, listed: readonly Ruling[]): Ruling[] {
  const known = new Set(listed.map(({ name }) => name));
  const names = new Set(input.controls.path.flatMap((folder) => toolNames(input.tree, folder)));
  return [...names]
    .filter((name) => !known.has(name))
    .map((name) => rule(input, { object: { class: "tool", name }, permission: "execute" }))
    .filter(({ verdict }) => verdict.allowed);
}

/** Allowed, and there is a provider with a key for it, or none is needed. */
async function modelReport(
  { tree }: GrantInput,
  places: Places,
  { name, verdict }: Ruling,
): Promise<ModelReport> {
  const refusal = firstRefusal(verdict);
  if (refusal !== undefined) return { model: name, usable: false, because: refusal.because };
  const { resolveModel } = await import("../../internal/model/mod.ts");
  const [provider = "", model = ""] = name.split("/");
  try {
    resolveModel({ tree, places, choice: { kind: "ref", ref: { provider, model } } });
    return { model: name, usable: true };
  } catch (error) {
    const { message, hint } = coded(error);
    return { model: name, usable: false, because: hint ? `${message}; ${hint}` : message };
  }
}

function deadAliases({ tree, controls }: GrantInput): ModelReport[] {
  return controls.model.flatMap((choice) => {
    if (choice.kind === "ref") return [];
    try {
      resolveAlias(tree, choice.name);
      return [];
    } catch (error) {
      return [{ model: choice.name, usable: false, because: coded(error).message }];
    }
  });
}

function mountReports({ controls }: GrantInput): MountReport[] {
  return controls.mount.map(({ source, target, access }) => {
    try {
      const facts = statSync(source);
      const found = facts.isDirectory() ? "folder" : facts.isFile() ? "file" : "other";
      return { source, target, access, found };
    } catch (error) {
      // What this user cannot look at the server may see all the same.
      const found = coded(error).code === "ENOENT" ? "missing" : "unknown";
      return { source, target, access, found };
    }
  });
}
