// `ctx tool NAME`: the tools of the core that a person may run directly, because they are safe and
// implemented here. Every other one is refused: run past an agent, it would be run past all authority.

import { fail, objectName } from "../../internal/abi/mod.ts";
import { viewPath } from "../../internal/cli/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { runConfig } from "./exec-config.ts";
import { rootOf } from "./root.ts";
import { candidates, isExecutable } from "./which.ts";

export const spec: CommandSpec = {
  name: "tool",
  words: "<name> [arg..]",
  summary: "Runs a safe tool of the core, which is tsh.config, by its name.",
  more: "The tool must be on CTX_PATH. Any other tool runs only for an agent and is refused.",
  positionals: { name: "Name of the tool", arg: "What the tool is given" },
  options: {},
  json: false,
  examples: [
    ["tool tsh.config", "how tsh bounds what a session has loaded"],
    ["tool tsh.config max_loaded_tools=32", "change it for the whole tree"],
  ],
};

/** Tools without any meaning for authority. */
const safe: readonly string[] = ["tsh.config"];

export function run(args: Arguments): number {
  const name = objectName("tool", args.need("name"));
  const root = rootOf(args.text("root"), args.text("source"));
  const path = candidates("tool", name)
    .map((candidate) => viewPath(root, candidate))
    .find(isExecutable);
  if (path === undefined) {
    return fail("ENOENT", `tool "${name}" is not on CTX_PATH`, { hint: "see ctx ls tool" });
  }
  if (!safe.includes(name)) {
    return fail("EACCES", `cannot run tool "${name}": it runs only for an agent`, {
      hint: `ask one with ctx agent send; ctx tool runs ${safe.join(", ")}`,
    });
  }
  return runConfig(path, args.list("arg"));
}
