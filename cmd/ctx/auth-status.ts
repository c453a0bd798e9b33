// `ctx auth status`: what is stored, by name alone, and what the store refuses to use.

import { codes, fail } from "../../internal/abi/mod.ts";
import { escapeLine, note, print, printJson } from "../../internal/cli/mod.ts";
import { type StoredSecret, surveySecrets } from "../../internal/secret/mod.ts";
import { statusTarget, surplus, targetFacts } from "./auth-target.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { placesOf } from "./context.ts";

export const spec: CommandSpec = {
  name: "auth status",
  words: "[target]",
  summary: "Lists the keys and values that are stored, by name; never what they are.",
  positionals: { target: "PROVIDER, mcp/SERVER or mcp/SERVER/VARIABLE; all without it" },
  options: {},
  surplus,
  examples: [
    ["auth status", "one line a key, and which files others could read"],
    ["auth status openai", "exits with 1 when it has none"],
    [
      "auth status --json",
      "one JSON object a key: ok, kind, provider and slot or server and variable",
    ],
  ],
};

/** 0; 1 when the target has nothing; the first fault's exit status when something is refused. */
export function run(args: Arguments): number {
  const places = placesOf(args);
  const text = args.text("target");
  const target = text === undefined ? undefined : statusTarget(text);
  const { stored, faults } = surveySecrets(places, target);
  const name = target?.name;
  const shown = stored.filter((one) => name === undefined || one.name === name);
  for (const secret of shown) {
    if (args.flag("json")) printJson({ ok: true, ...targetFacts(secret) });
    else print(lineOf(secret));
  }
  for (const { code, message, hint } of faults) {
    if (args.flag("json")) printJson({ ok: false, code, message, ...(hint && { hint }) });
    else noteFault(`${message} [${code}]`, hint);
  }
  const [first] = faults;
  if (first !== undefined) return codes[first.code].exit;
  if (text !== undefined && shown.length === 0) {
    fail("ENOENT", `nothing is stored for ${text}`, {
      hint: `run ctx auth login ${loginOf(text)}`,
    });
  }
  if (shown.length === 0 && !args.flag("json")) print(`nothing is stored in ${places.secrets}`);
  return 0;
}

function noteFault(text: string, hint: string | undefined): void {
  note(`ctx: ${escapeLine(text)}`);
  if (hint !== undefined) note(`  hint: ${escapeLine(hint)}`);
}

/** A server alone cannot be logged in to. */
function loginOf(text: string): string {
  return /^mcp\/[^/]+$/.test(text) ? `${text}/VARIABLE` : text;
}

function lineOf({ kind, owner, name }: StoredSecret): string {
  return kind === "provider"
    ? `provider ${owner}  slot ${name}`
    : `server ${owner}  variable ${name}`;
}
