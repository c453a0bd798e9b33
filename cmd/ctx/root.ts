// The root of the view for commands that parse their own flags.

import { viewRoot } from "../../internal/cli/mod.ts";
import { resolvePlaces } from "../../internal/tree/mod.ts";

/** `root` and `source` are the options of those names, when they were given. */
export function rootOf(root: string | undefined, source: string | undefined): string {
  const uid = process.getuid?.() ?? 0;
  const findSource = () => resolvePlaces({ source, env: process.env, uid }).source;
  return viewRoot({ root, source, findSource });
}
