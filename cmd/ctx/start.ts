// The start of every command that is not on a path of its own.

import { runMain } from "../../internal/cli/mod.ts";
import type { LoadCommands } from "./command.ts";
import { help } from "./help.ts";

export function start(commands: LoadCommands): Promise<never> {
  return runMain("ctx", commands, help);
}
