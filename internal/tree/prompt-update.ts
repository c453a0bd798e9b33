// What an agent may change of itself: the text of a prompt control, whole. Nothing that has any
// authority can be named here, whoever asks.

import {
  fail,
  quoted,
  type UpdatableControl,
  updatableControls,
  updateContentBytesMax,
} from "../abi/mod.ts";
import { writeControl } from "./control-file.ts";
import type { Tree } from "./open.ts";

/**
 * Replaces `agent/<agent>.d/<control>` durably and whole, or makes it; owner and mode stay. Throws
 * EINVAL for another control and for text that is no UTF-8 or holds a NUL, EMSGSIZE past
 * `updateContentBytesMax`, ENOENT without such an agent; nothing is written then.
 */
export function updatePrompt(
  tree: Tree,
  agent: string,
  control: UpdatableControl,
  content: string,
): void {
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
  writeControl(tree, `agent/${agent}.d/${control}`, content);
}
