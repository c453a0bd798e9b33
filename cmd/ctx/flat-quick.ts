// The start of the commands that must be as quick as an empty program. The build makes one flat
// piece of code of this file and all that it imports.

import { runMain } from "../../internal/cli/mod.ts";
import { help } from "./help.ts";
import { runQuick } from "./quick.ts";

export function start(): Promise<never> {
  return runMain("ctx", async () => ({ run: runQuick }), help);
}
