// `ctx abi`: which protocols this program knows, in which versions.

import { abiVersions } from "../../internal/abi/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import { kindsOf, protocols } from "../../internal/conformance/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";

export const spec: CommandSpec = {
  name: "abi",
  words: "",
  summary: "Lists the protocols of this version. More: ctx abi show, verify, export, conformance.",
  positionals: {},
  options: {},
  examples: [
    ["abi", "names, bounds and how many kinds of frames each has"],
    ["abi show v2 attach", "one kind: its schema, its rules and an example"],
  ],
};

export function run(args: Arguments): number {
  for (const { name, short } of protocols) {
    const { abi, line_bytes_max: bytes, unknown_fields: unknown, kinds } = kindsOf(name);
    const served = abiVersions.includes(name);
    const facts = { name, short, abi, served, line_bytes_max: bytes, unknown_fields: unknown };
    if (args.flag("json")) printJson({ ...facts, kinds: kinds.length });
    else {
      const size = `${kinds.length} kinds, lines to ${bytes / 1024} KiB`;
      const state = served ? "" : ", not served by this version";
      print(`${name.padEnd(16)} ${short.padEnd(12)} ${size}, unknown fields ${unknown}${state}`);
    }
  }
  return 0;
}
