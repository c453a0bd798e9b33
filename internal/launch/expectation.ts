// What must lie at a view path once the sandbox stands. bubblewrap resolves paths itself, later than
// the plan did, and an agent or its user may have replaced something on the way by a symlink.

import { relative } from "node:path";
import { statBeneath } from "../os/mod.ts";
import type { ToolObject, Tree } from "../tree/mod.ts";

export interface Expectation {
  readonly view: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Of installed tools, which may lie in a folder that an agent can write. */
export function toolExpectations(tree: Tree, tools: readonly ToolObject[]): Expectation[] {
  return tools.map(({ hostPath, viewPath }) => {
    const { dev, ino } = statBeneath(tree.folder, relative(tree.source, hostPath));
    return { view: viewPath, dev: BigInt(dev), ino: BigInt(ino) };
  });
}
