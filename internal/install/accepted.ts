// What a person has accepted: the tool as it was when it was installed, by its receipt.

import { lstatSync } from "node:fs";
import { fail, quoted } from "../abi/mod.ts";
import { type ToolObject, type Tree, viewToSource } from "../tree/mod.ts";
import { readInstallReceipt } from "./receipt.ts";

/** SHA-256 of the definition that was installed. Throws EACCES without one. */
export function acceptedDefinition(
  tree: Tree,
  tool: Pick<ToolObject, "name" | "viewPath" | "hostPath">,
): string {
  const { name, viewPath, hostPath } = tool;
  const object = viewToSource(viewPath) ?? fail("EINVAL", `${quoted(viewPath)} is not below /ctx`);
  const receipt = readInstallReceipt(tree, object);
  const hint = "install it: ctxmcp project, then ctx object install";
  if (receipt?.definition === undefined) {
    return fail("EACCES", `tool ${quoted(name)} is of a server and was not installed`, { hint });
  }
  const { dev, ino } = lstatSync(hostPath, { bigint: true });
  const { executable } = receipt;
  if (`${dev}` !== executable.dev || `${ino}` !== executable.ino) {
    fail("EACCES", `the executable of tool ${quoted(name)} is not the one that was installed`, {
      hint: `see ctx object inspect tool/${name}`,
    });
  }
  return receipt.definition;
}
