// `ctx auth logout`: removes a stored key or value.

import { fail } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { removeSecret, removeServerSecret } from "../../internal/secret/mod.ts";
import { described, slotOption, surplus, targetFacts, targetOf } from "./auth-target.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { placesOf } from "./context.ts";

export const spec: CommandSpec = {
  name: "auth logout",
  words: "<target>",
  summary: "Removes a stored key or value; it stays valid where it was issued.",
  positionals: { target: "PROVIDER, or mcp/SERVER/VARIABLE" },
  options: slotOption,
  surplus,
  examples: [
    ["auth logout openai", "the key in the slot default"],
    ["auth logout mcp/github/TOKEN", "one variable of a server"],
  ],
};

export function run(args: Arguments): number {
  const target = targetOf(args);
  const places = placesOf(args);
  const { kind, owner, name } = target;
  const removed =
    kind === "provider"
      ? removeSecret(places, owner, name)
      : removeServerSecret(places, owner, name);
  if (!removed)
    fail("ENOENT", `no ${described(target)} is stored`, { hint: "see ctx auth status" });
  if (args.flag("json")) printJson({ ...targetFacts(target), removed: true });
  else print(`removed the ${described(target)}`);
  return 0;
}
