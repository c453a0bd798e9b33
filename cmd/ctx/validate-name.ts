// `ctx validate-name`: whether a word is a valid object name; for scripts that make objects.

import { fail, objectName, parseModelRef, sessionName } from "../../internal/abi/mod.ts";
import { everyCommandFlags, parseFlags, print, printJson } from "../../internal/cli/mod.ts";

export const help = `Usage: ctx validate-name NAME [--kind KIND] [--json]

Prints the name and ends with 0 when it is valid, or says what is wrong and ends with 2.

Options:
  --kind KIND    agent, tool, provider, model, session, space or terminal (default: object)
  --json         Print {"name":…,"kind":…,"valid":true}

Examples:
  ctx validate-name build-7
  ctx validate-name --kind model openai/gpt-5
`;

const kinds = ["object", "agent", "tool", "provider", "model", "session", "space", "terminal"];

export function runFast(argv: readonly string[]): number {
  const flags = parseFlags(argv, { ...everyCommandFlags, kind: "value" });
  const [name] = flags.words;
  if (name === undefined || flags.words.length > 1) {
    return fail("EINVAL", "validate-name needs one name", { hint: "see ctx validate-name --help" });
  }
  const kind = flags.value.get("kind") ?? "object";
  if (!kinds.includes(kind)) fail("EINVAL", `--kind is one of ${kinds.join(", ")}`);
  if (kind === "session") sessionName(name);
  else if (kind === "model") requireModel(name);
  else objectName(kind, name);
  if (flags.on.has("json")) printJson({ name, kind, valid: true });
  else print(name);
  return 0;
}

function requireModel(name: string): void {
  if (parseModelRef(name) !== undefined) return;
  fail("EINVAL", `model name ${JSON.stringify(name)} is not valid`, {
    hint: "write provider/model, two names of A-Z a-z 0-9 . _ + -",
  });
}
