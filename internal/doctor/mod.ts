// The door of the doctor: what a person would look at first when something does not work.

import type { Places } from "../tree/mod.ts";
import type { Check } from "./check.ts";
import { placeChecks } from "./place-checks.ts";
import { sandboxChecks } from "./sandbox-checks.ts";
import { terminalChecks } from "./terminal-checks.ts";
import { treeChecks } from "./tree-checks.ts";

export { type Check, failure, failureOf, warning, well } from "./check.ts";

/** Every check that needs no server; one that fails never hides the others. */
export async function examine(places: Places): Promise<Check[]> {
  const [sandbox, terminal] = await Promise.all([
    sandboxChecks(),
    terminalChecks(places, process.env),
  ]);
  return [...treeChecks(places), ...placeChecks(places), ...sandbox, ...terminal];
}
