// What a person has accepted: the tool as it was when it was installed, by its receipt.

import { fail, quoted } from "../abi/mod.ts";
import { readControl, type ToolObject, type Tree, viewToSource } from "../tree/mod.ts";
import { readInstallReceipt } from "./receipt.ts";

/**
 * SHA-256 of the definition that was installed. Throws EACCES without one, and for an executable of
 * other content: it is judged by that and not by device and inode, which a tree that was restored
 * from a backup, or mounted again, has other ones of.
 */
export function acceptedDefinition(
  tree: Tree,
  { name, viewPath }: Pick<ToolObject, "name" | "viewPath">,
): string {
  const object = viewToSource(viewPath) ?? fail("EINVAL", `${quoted(viewPath)} is not below /ctx`);
  const receipt = readInstallReceipt(tree, object);
  const hint = "install it: ctxmcp project, then ctx object install";
  if (receipt?.definition === undefined) {
    return fail("EACCES", `tool ${quoted(name)} is of a server and was not installed`, { hint });
  }
  // A few lines of text, which the tree keeps by the file's identity.
  const content = readControl(tree, object);
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  if (sha256 !== receipt.executable.sha256) {
    fail("EACCES", `the executable of tool ${quoted(name)} is not the one that was installed`, {
      hint: `see ctx object inspect ${object}`,
    });
  }
  return receipt.definition;
}
