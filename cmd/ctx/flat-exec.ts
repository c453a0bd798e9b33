// The start of the object runner. The build makes one flat piece of code of this file and all that
// it imports, because loading many small pieces would cost a tool call more than its work.

import { runMain } from "../../internal/cli/mod.ts";
import type { LoadCommands } from "./command.ts";
import { run } from "./exec.ts";

export function start(commands: LoadCommands): Promise<never> {
  const program = {
    run: (argv: readonly string[]) => run(argv, async (words) => (await commands()).run(words)),
  };
  return runMain("ctx", async () => program, "");
}
