// The controls of an object that is to be installed, each as the text of its file, judged as a whole
// where one control speaks of another. What a manifest leaves out of an agent is the least.

import { fail } from "../abi/mod.ts";
import type { AgentControlName } from "../control/mod.ts";
import type { Manifest } from "../manifest/mod.ts";
import { isBuiltinTool, type Places, planAgent, type Tree, treeOwner } from "../tree/mod.ts";
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
  const controls = new Map(
    [...manifest.controls].map(([name, text]) => {
      const place = () => manifest.place(`controls.${name}`);
      return [name as AgentControlName, { text, place }] as const;
    }),
  );
  const said = { name: undefined, description: undefined, program: undefined, controls };
  return new Map(planAgent({ tree, places, owner, groups: [] }, manifest.name, said));
}

/**
 * Whether `--replace` takes a control from the new manifest. A person's answer to who may use it stays,
 * and so does all of an agent but what it is told.
 */
export function isReplaced(kind: Manifest["class"], control: string): boolean {
  if (kind === "tool") return control !== "policy" && control !== "log";
  return ["abi", "system.md", "prompt.template.md", "status", "pid", "meta.json"].includes(control);
}
