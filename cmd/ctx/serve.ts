// `ctx serve`: runs the server in the foreground. It is a program of its own, found beside this one.

import { dirname } from "node:path";
import { fail } from "../../internal/abi/mod.ts";
import { onInterrupt } from "../../internal/cli/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";

export const spec: CommandSpec = {
  name: "serve",
  words: "",
  summary: "Runs ctxd in the foreground until it is stopped.",
  positionals: {},
  options: {},
  json: false,
  examples: [["serve --source ./tree", "serve a tree of one's own"]],
};

/** Status of a program that a signal ended, as shells count it. */
const signalExitBase = 128;

export async function run(args: Arguments): Promise<number> {
  const source = args.text("source");
  const argv = ["serve", ...(source === undefined ? [] : ["--source", source])];
  const program = siblingProgram("ctxd");
  const child = Bun.spawn([...program, ...argv], { stdio: ["inherit", "inherit", "inherit"] });
  // The terminal sends Ctrl-C to both; the server decides when it has stopped.
  const release = onInterrupt(() => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  await child.exited;
  release();
  return child.exitCode ?? signalExitBase;
}

/** The command line of another program of this installation: a file beside this executable. */
export function siblingProgram(name: string): string[] {
  const path = `${dirname(process.execPath)}/${name}`;
  if (Bun.which(path) !== null) return [path];
  return fail("ENOENT", `cannot find program "${name}" beside "${process.execPath}"`, {
    hint: "install the five programs into one folder",
  });
}
