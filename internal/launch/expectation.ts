// What must lie at a view path once the sandbox stands. bubblewrap resolves paths itself, later than
// the plan did, and an agent or its user may have replaced something on the way by a symlink.

import { statSync } from "node:fs";
import { relative } from "node:path";
import { fail } from "../abi/mod.ts";
import { statBeneath } from "../os/mod.ts";
import type { ToolObject, Tree } from "../tree/mod.ts";

export interface Expectation {
  readonly view: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Of a host path that no agent can change. Throws EHOSTDOWN when it is not there. */
export function hostExpectation(view: string, host: string): Expectation {
  try {
    const { dev, ino } = statSync(host, { bigint: true });
    return { view, dev, ino };
  } catch (cause) {
    return fail("EHOSTDOWN", `there is no "${host}" to be shown at "${view}"`, { cause });
  }
}

/** Of installed tools, which may lie in a folder that an agent can write. */
export function toolExpectations(tree: Tree, tools: readonly ToolObject[]): Expectation[] {
  return tools.map(({ hostPath, viewPath }) => {
    const { dev, ino } = statBeneath(tree.folder, relative(tree.source, hostPath));
    return { view: viewPath, dev: BigInt(dev), ino: BigInt(ino) };
  });
}
