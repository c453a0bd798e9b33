// The controls of an object that is to be installed, each as the text of its file, judged as a whole
// where one control speaks of another. What a manifest leaves out of an agent is the least.

import { fail, quoted } from "../abi/mod.ts";
import { type AgentControlName, parseAgentControl } from "../control/mod.ts";
import type { Manifest } from "../manifest/mod.ts";
import type { FileOwner } from "../os/mod.ts";
import {
  agentNames,
  isBuiltinTool,
  loadAgent,
  type Places,
  planAgent,
  type Tree,
  treeOwner,
} from "../tree/mod.ts";
import { refuseField } from "./artifact.ts";

/** What the runtime finds in a new object and writes from then on. */
const runtimeControls = {
  tool: { status: "ready\n", log: "" },
  agent: { status: "idle\n", pid: "", log: "", "meta.json": "{}\n" },
} as const;

export interface ControlContext {
  readonly tree: Tree;
  readonly places: Pick<Places, "config" | "uid">;
}

/** Every control of the new object, the runtime's own too. Throws EINVAL or ENOENT with the place. */
export function newControls(context: ControlContext, manifest: Manifest): Map<string, string> {
  const authored =
    manifest.class === "tool" ? toolControls(manifest) : agentControls(context, manifest);
  return new Map([...authored, ...Object.entries(runtimeControls[manifest.class])]);
}

function toolControls(manifest: Manifest): Map<string, string> {
  if (isBuiltinTool(manifest.name)) refuseField(manifest, "name", "a built-in tool has this name");
  return new Map([["name", `${manifest.name}\n`], ...manifest.controls]);
}

function agentControls({ tree, places }: ControlContext, manifest: Manifest): Map<string, string> {
  const owner = treeOwner(tree.source);
  if (owner === undefined) {
    return fail("ENOENT", `tree "${tree.source}" holds no record of who its agents belong to`);
  }
  checkIdentity(manifest, owner);
  checkLabel(tree, manifest);
  const controls = new Map(
    [...manifest.controls].map(([name, text]) => {
      const place = () => manifest.place(`controls.${name}`);
      return [name as AgentControlName, { text, place }] as const;
    }),
  );
  const said = { name: undefined, description: undefined, program: undefined, controls };
  return new Map(planAgent({ tree, places, owner, groups: [] }, manifest.name, said));
}

/** As whom an agent runs is not for whoever wrote its manifest to say. */
function checkIdentity(manifest: Manifest, owner: FileOwner): void {
  const { uid, gid } = owner;
  const expected = { owner: `${uid}\n`, uid: `${uid}\n`, gid: `${gid}\n`, groups: "" };
  for (const [control, text] of Object.entries(expected)) {
    const said = manifest.controls.get(control);
    if (said === undefined || said === text) continue;
    const runs = `an installed agent runs as the owner of the tree, uid ${uid} and gid ${gid}`;
    refuseField(manifest, `controls.${control}`, `${runs}, without more groups`);
  }
}

/** Lines that people wrote for one agent would hold for every other one of its type. */
function checkLabel(tree: Tree, manifest: Manifest): void {
  const parsed = parseAgentControl("label", manifest.controls.get("label") ?? "");
  const type = parsed.ok ? parsed.value.type : undefined;
  const other = agentNames(tree).find(
    (name) => name !== manifest.name && type !== undefined && typeOf(tree, name) === type,
  );
  if (other === undefined) return;
  const reason = `${quoted(String(type))} is the type of agent ${quoted(other)}`;
  refuseField(manifest, "controls.label", `${reason}, whose policy lines are not for another`);
}

function typeOf(tree: Tree, agent: string): string | undefined {
  try {
    return loadAgent(tree, agent).label.type;
  } catch {
    // One that is broken can do nothing.
    return undefined;
  }
}

/**
 * Whether `--replace` takes a control from the new manifest. A person's answer to who may use it stays,
 * and so does all of an agent but what it is told.
 */
export function isReplaced(kind: Manifest["class"], control: string): boolean {
  if (kind === "tool") return control !== "policy" && control !== "log";
  return ["abi", "system.md", "prompt.template.md", "status", "pid", "meta.json"].includes(control);
}
