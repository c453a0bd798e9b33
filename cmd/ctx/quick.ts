// The quick commands and how one of them runs. Each parses its few flags itself.

import { printRaw } from "../../internal/cli/mod.ts";
import * as cat from "./cat.ts";
import type { FastCommand } from "./command.ts";
import * as ls from "./ls.ts";
import * as status from "./status.ts";
import * as validateName from "./validate-name.ts";

export const quickCommands: Readonly<Record<string, FastCommand>> = {
  status,
  ls,
  cat,
  "validate-name": { help: validateName.help, runFast: validateName.runFast },
};

/** Runs `NAME ARG…` of the table above; the caller has seen that it is there. */
export async function runQuick(argv: readonly string[]): Promise<number> {
  const [name = "", ...rest] = argv;
  return runFast(quickCommands[name] as FastCommand, rest);
}

/** Shows a command's help or runs it. What follows `--` is never a flag. */
export async function runFast(command: FastCommand, argv: readonly string[]): Promise<number> {
  const dashes = argv.indexOf("--");
  const own = dashes < 0 ? argv : argv.slice(0, dashes);
  if (!own.includes("--help") && !own.includes("-h")) return command.runFast(argv);
  printRaw(command.help);
  return 0;
}
