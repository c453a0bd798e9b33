// A parser for the few flags of the commands that must start as fast as an empty program. The rest
// of the commands use yargs, which alone takes longer to load than these take to run.

import { fail } from "../abi/mod.ts";

/** What a flag takes, "values" one each time it is given; its key is its long name without the dashes. */
export type FlagKinds = Readonly<Record<string, "switch" | "value" | "values">>;

export interface ParsedFlags {
  readonly on: ReadonlySet<string>;
  readonly value: ReadonlyMap<string, string>;
  /** Of the flags that may be given more than once, in order; absent when none was. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

/** Flags that every command of `ctx` understands. */
export const everyCommandFlags = {
  help: "switch",
  json: "switch",
  source: "value",
  root: "value",
  "no-start": "switch",
} as const satisfies FlagKinds;

/** `--name`, `--name value`, `--name=value`, `-h`; `-` and `-1` are words, and all after `--`. Throws EINVAL. */
export function parseFlags(argv: readonly string[], kinds: FlagKinds): ParsedFlags {
  const on = new Set<string>();
  const value = new Map<string, string>();
  const values = new Map<string, string[]>();
  const words: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const item = argv[index] as string;
    if (item === "--") {
      words.push(...argv.slice(index + 1));
      break;
    }
    if (item === "-h") on.add("help");
    else if (!/^-[^0-9]/.test(item)) words.push(item);
    else {
      const equals = item.indexOf("=");
      const name = item.replace(/^--/, "").slice(0, equals < 0 ? undefined : equals - 2);
      const kind = item.startsWith("--") && Object.hasOwn(kinds, name) ? kinds[name] : undefined;
      if (kind === undefined) return unknownFlag(item, kinds);
      if (kind === "switch") {
        if (equals >= 0) fail("EINVAL", `option "--${name}" takes no value`);
        on.add(name);
      } else {
        const given = equals >= 0 ? item.slice(equals + 1) : argv[++index];
        if (given === undefined) fail("EINVAL", `option "--${name}" needs a value`);
        if (kind === "value") value.set(name, given);
        else values.set(name, [...(values.get(name) ?? []), given]);
      }
    }
  }
  return { on, value, values, words };
}

function unknownFlag(item: string, kinds: FlagKinds): never {
  const known = Object.keys(kinds).map((name) => `--${name}`);
  return fail("EINVAL", `unknown option ${JSON.stringify(item)}`, {
    hint: `this command knows ${known.join(" ")}; put -- before a word that starts with a dash`,
  });
}
