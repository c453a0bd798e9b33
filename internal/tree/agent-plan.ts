// What a new agent's controls are: what was said about it, and the least for everything else. Each
// text is judged by its own grammar first, then the whole is: models and tools exist, and the window
// fits the model. Nothing is written here.

import { type CodedError, coded, fail, type ModelRef, objectName, quoted } from "../abi/mod.ts";
import {
  type AgentControlName,
  type AgentControls,
  type AgentControlValues,
  agentControls,
  type ModelChoice,
  parseAgentControl,
} from "../control/mod.ts";
import type { FileOwner } from "../os/mod.ts";
import { formatAllow, policyOf } from "../policy/mod.ts";
import { checkWindowPair } from "../window/mod.ts";
import type { AgentDescription, Given } from "./agent-description.ts";
import { promptTemplate } from "./builtin-agents.ts";
import { parsedValue } from "./control-file.ts";
import { loadModel, modelName, resolveAlias } from "./model.ts";
import { modelAliases, modelNames, type Tree, toolNames } from "./open.ts";
import type { Places } from "./place-names.ts";
import { loadProviders } from "./providers.ts";

/** Texts of controls by name, in the order in which a table of them lists them. */
export type ControlTexts = ReadonlyMap<AgentControlName, string>;

export interface PlanContext {
  readonly tree: Tree;
  readonly places: Pick<Places, "config" | "uid">;
  /** Who the agents of the tree belong to. */
  readonly owner: FileOwner;
  /** Supplementary groups that the agent gets when nothing else is said. */
  readonly groups: readonly number[];
}

/** Tools that a new agent is offered when nothing else is said: those that only look. */
const leastTools = ["fs.read", "fs.list", "fs.stat"];

/** Every control that a person may write, of a new agent of this name. */
export function planAgent(
  context: PlanContext,
  name: string,
  description: AgentDescription,
): ControlTexts {
  objectName("agent", name);
  checkGiven(context, description);
  const said = (control: AgentControlName) => description.controls.get(control)?.text;
  const texts = new Map<AgentControlName, string>(
    Object.entries(leastControls(context, name)) as [AgentControlName, string][],
  );
  for (const [control, given] of description.controls) texts.set(control, given.text);
  if (said("label") === undefined) checkDefaultLabel(name);
  checkState(context, texts, description);
  if (said("policy") === undefined) texts.set("policy", leastPolicy(context.tree, texts));
  return texts;
}

function leastControls({ owner, groups }: PlanContext, name: string) {
  return {
    owner: `${owner.uid}\n`,
    uid: `${owner.uid}\n`,
    gid: `${owner.gid}\n`,
    groups: lines(groups.map(String)),
    perm: "r--\n",
    label: `user_u:agent_r:${name}_t:s0\n`,
    iso: "shared\n",
    life: "owned\n",
    root: "/\n",
    cwd: "/workspace\n",
    env: "",
    path: `/ctx/tool\n/ctx/home/${owner.uid}/tool\n`,
    mount: "",
    model: "main\n",
    window: "auto\n",
    policy: "",
    tools: lines(leastTools),
    abi: "sdk-envelope-v1\n",
    approval: "auto\n",
    "system.md": `You are the agent ${name}. You answer what you are asked, with the tools that you are given.\n`,
    "prompt.template.md": promptTemplate,
  } satisfies Partial<Record<AgentControlName, string>>;
}

/** Its own tools and the models that it names, as they are found now. No network. */
function leastPolicy(tree: Tree, texts: ControlTexts): string {
  const { type } = value(texts, "label");
  const allow = (kind: "tool" | "model" | "network", name: string, permission: string) =>
    formatAllow(type, { class: kind, name }, permission);
  const models = new Set(value(texts, "model").map((choice) => modelName(refOf(tree, choice))));
  return lines([
    "# What is not allowed here is denied. A tool's own policy must allow the call as well.",
    ...["tsh", ...value(texts, "tools")].map((tool) => allow("tool", tool, "execute")),
    "# A model needs a line of its own, also when an alias such as main leads to it:",
    ...[...models].map((model) => allow("model", model, "use")),
    "# Without this line it cannot replace its own system.md and prompt.template.md:",
    `#   ${allow("tool", "agent.update", "execute")}`,
    "# Without this line there is no network:",
    `#   ${allow("network", "default", "connect")}`,
  ]);
}

function lines(items: readonly string[]): string {
  return items.map((item) => `${item}\n`).join("");
}

/** Each text that was given, by its own grammar. Throws with the place where it was given. */
export function checkGiven({ owner }: PlanContext, described: AgentDescription): void {
  const { controls, description } = described;
  if (description !== undefined) checkDescription(description);
  for (const [control, given] of controls) {
    const row = agentControls[control];
    if (row.runtimeOwned) {
      const place = given.place(1, 1);
      fail("EINVAL", `${control} cannot be given: the runtime owns it`, { place });
    }
    const parsed = row.parse(given.text);
    if (parsed.ok) continue;
    fail(parsed.code, parsed.reason, { place: given.place(parsed.line, parsed.column) });
  }
  const named = controls.get("owner");
  if (named === undefined || named.text === `${owner.uid}\n`) return;
  fail("EINVAL", `owner ${quoted(named.text.trim())} is not the tree's, which is ${owner.uid}`, {
    place: named.place(1, 1),
  });
}

/** Characters of the one line about an agent. Past it EINVAL. */
const descriptionCharsMax = 512;

function checkDescription({ text, place }: Given): void {
  const line = text.replace(/\n$/, "");
  const wrong = /[\0-\x1f\x7f]/.exec(line);
  if (line.trim() === "") fail("EINVAL", "description is empty", { place: place(1, 1) });
  if (wrong !== null) {
    fail("EINVAL", "description is more than one plain line", { place: place(1, wrong.index + 1) });
  }
  if (line.length <= descriptionCharsMax) return;
  const reason = `description has more than ${descriptionCharsMax} characters`;
  fail("EINVAL", reason, { place: place(1, descriptionCharsMax + 1) });
}

function checkDefaultLabel(name: string): void {
  const parsed = parseAgentControl("label", `${name}_t\n`);
  if (parsed.ok) return;
  fail("EINVAL", `agent name ${quoted(name)} gives no policy type: ${parsed.reason}`, {
    hint: "name one with --label, for example --label my_t",
  });
}

/**
 * The whole after a change: what was said about tools and models is there, and a window that is a
 * number fits the first model. Throws ENOENT with what there is, EINVAL for the pair.
 */
export function checkState(
  { tree, places }: Pick<PlanContext, "tree" | "places">,
  texts: ControlTexts,
  { controls }: Pick<AgentDescription, "controls">,
): void {
  const tools = controls.get("tools");
  if (tools !== undefined) checkTools(tree, texts, tools);
  const models = controls.get("model");
  const windowed = controls.has("window") || models !== undefined;
  const choices = value(texts, "model");
  for (const [index, choice] of choices.entries()) {
    if (models !== undefined) placed(models, index + 1, () => modelOf(tree, choice));
  }
  const window = value(texts, "window");
  const [first] = choices;
  if (!windowed || window === "auto" || first === undefined) return;
  const ref = refOf(tree, first);
  const maximum = modelMaximum(tree, places, ref);
  const given = controls.get("window") ?? (models as Given);
  placed(given, 1, () => checkWindowPair(window, { name: modelName(ref), maximum }));
}

function checkTools(tree: Tree, texts: ControlTexts, given: Given): void {
  const found = value(texts, "path").flatMap((folder) => toolNames(tree, folder));
  for (const [index, tool] of value(texts, "tools").entries()) {
    if (found.includes(tool)) continue;
    fail("ENOENT", `tool ${quoted(tool)} does not exist`, {
      place: given.place(index + 1, 1),
      hint: `there are ${listed([...new Set(found)].filter((name) => name !== "tsh"))}`,
    });
  }
}

/** Names that a hint shows. The rest is counted. */
const listedMax = 24;

function listed(names: readonly string[]): string {
  if (names.length === 0) return "none";
  const more = names.length > listedMax ? ` and ${names.length - listedMax} more` : "";
  return `${names.slice(0, listedMax).join(" ")}${more}`;
}

/** An error of `work` with the place where its cause was given. */
function placed(given: Given, line: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    const { code, message, hint, place } = coded(error) as CodedError;
    const detail = hint === undefined ? {} : { hint };
    fail(code, message, { ...detail, place: place ?? given.place(line, 1), cause: error });
  }
}

function modelOf(tree: Tree, choice: ModelChoice): void {
  try {
    loadModel(tree, refOf(tree, choice));
  } catch (error) {
    const { code, message } = coded(error);
    if (code !== "ENOENT") throw error;
    const hint = `there are ${listed([...modelAliases(tree), ...modelNames(tree)])}`;
    fail(code, message, { hint, cause: error });
  }
}

function refOf(tree: Tree, choice: ModelChoice): ModelRef {
  return choice.kind === "ref" ? choice.ref : resolveAlias(tree, choice.name);
}

/** Tokens that the model takes at most, by its own limit or its provider's file. */
export function modelMaximum(
  tree: Tree,
  places: Pick<Places, "config" | "uid">,
  ref: ModelRef,
): number | undefined {
  const { limit, id, driver } = loadModel(tree, ref);
  if (limit !== undefined || driver.startsWith("debug.")) return limit;
  const provider = loadProviders(places).find(({ name }) => name === ref.provider);
  return provider?.modelLimits.get(id);
}

/** The value of a text that has been judged, or of its absence. */
function value<N extends AgentControlName>(texts: ControlTexts, name: N): AgentControlValues[N] {
  const text = texts.get(name);
  const row = agentControls[name];
  if (text === undefined) return row.absent as AgentControlValues[N];
  return parsedValue(parseAgentControl(name, text), name);
}

/** The controls as one value, as they will be loaded once they are in the tree. */
export function controlsOf(texts: ControlTexts): AgentControls {
  const of = <N extends AgentControlName>(name: N) => value(texts, name);
  const owner = of("owner");
  return {
    owner,
    uid: of("uid") ?? owner,
    gid: of("gid") ?? owner,
    groups: of("groups"),
    perm: of("perm"),
    label: of("label"),
    iso: of("iso"),
    parent: of("parent"),
    life: of("life"),
    root: of("root"),
    cwd: of("cwd"),
    env: of("env"),
    path: of("path"),
    mount: of("mount"),
    model: of("model"),
    window: of("window"),
    policy: policyOf(of("policy")),
    tools: of("tools"),
    abi: of("abi"),
    approval: of("approval"),
  };
}
