// What an agent may change of itself: the text of a prompt control, whole. Nothing that has any
// authority can be named here, whoever asks.

import {
  fail,
  quoted,
  type UpdatableControl,
  updatableControls,
  updateContentBytesMax,
} from "../abi/mod.ts";
import type { StagedFile } from "../os/mod.ts";
import { stageControl } from "./control-file.ts";
import type { Tree } from "./open.ts";

/**
 * The new text of `agent/<agent>.d/<control>`, which replaces the old one durably and whole when it is
 * published, or makes it; owner and mode stay. Rejects with EINVAL for another control and for text
 * that is no UTF-8 or holds a NUL, EMSGSIZE past `updateContentBytesMax`, ENOENT without such an agent;
 * nothing is written then.
 */
export async function stagePrompt(
  tree: Tree,
  agent: string,
  control: UpdatableControl,
  content: string,
): Promise<StagedFile> {
  if (!updatableControls.includes(control)) {
    fail("EINVAL", `an agent may not replace its control ${quoted(control)}`, {
      hint: `it may replace ${updatableControls.join(" and ")}`,
    });
  }
  if (!content.isWellFormed() || content.includes("\0")) {
    fail("EINVAL", `the new ${quoted(control)} is not UTF-8 text without NUL`);
  }
  const bytes = Buffer.byteLength(content);
  if (bytes > updateContentBytesMax) {
    fail("EMSGSIZE", `the new ${quoted(control)} has ${bytes} bytes`, {
      hint: `at most ${updateContentBytesMax} are allowed`,
    });
  }
  return stageControl(tree, `agent/${agent}.d/${control}`, content);
}
