// The options that every command of ctxmcp understands.

import { fail, quoted } from "../../internal/abi/mod.ts";
import type { FlagKinds, ParsedFlags } from "../../internal/cli/mod.ts";

export const sharedFlags = {
  help: "switch",
  json: "switch",
  log: "switch",
  config: "value",
  server: "value",
  timeout: "value",
  workspace: "value",
} as const satisfies FlagKinds;

/** For each wait for a server, in seconds, when nothing is said. */
const timeoutDefault = 60;

/** A day; longer waits are mistakes. */
const secondsMax = 86_400;

export interface ServerOptions {
  readonly config: string;
  readonly server: string | undefined;
  readonly timeoutMs: number;
  readonly workspace: string | undefined;
  readonly log: boolean;
}

export function serverOptions(flags: ParsedFlags): ServerOptions {
  return {
    config: needed(flags, "config", "FILE"),
    server: flags.value.get("server"),
    timeoutMs: milliseconds(flags, "timeout", timeoutDefault),
    workspace: flags.value.get("workspace"),
    log: flags.on.has("log"),
  };
}

/** Throws EINVAL when the option is missing or empty. */
export function needed({ value }: ParsedFlags, name: string, what: string): string {
  const given = value.get(name);
  if (given !== undefined && given !== "") return given;
  return fail("EINVAL", `--${name} is missing`, { hint: `add --${name} ${what}` });
}

/** Whole or decimal seconds. Throws EINVAL for anything else. */
export function milliseconds({ value }: ParsedFlags, name: string, otherwise: number): number {
  const text = value.get(name);
  if (text === undefined) return otherwise * 1000;
  const seconds = /^\d{1,6}(?:\.\d{1,3})?$/.test(text) ? Number(text) : 0;
  if (seconds > 0 && seconds <= secondsMax) return Math.ceil(seconds * 1000);
  return fail("EINVAL", `--${name} ${quoted(text)} is no number of seconds up to ${secondsMax}`);
}

/** Throws EINVAL for words that the command does not take. */
export function noWords(command: string, words: readonly string[]): void {
  const [extra] = words;
  if (extra !== undefined) fail("EINVAL", `"ctxmcp ${command}" takes no argument ${quoted(extra)}`);
}
