// `ctx abi export`: the folder abi/ as this program has it, to use elsewhere.

import { print, printJson } from "../../internal/cli/mod.ts";
import { exportAbi } from "../../internal/conformance/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";

export const spec: CommandSpec = {
  name: "abi export",
  words: "<dir>",
  summary: "Writes schemas, tables and golden files into a folder.",
  positionals: { dir: "A new or an empty folder" },
  options: {
    force: { type: "boolean", describe: "Write over files of the same names; others stay" },
  },
  examples: [["abi export ./cortexfs-abi", "then read ./cortexfs-abi/README.md"]],
};

export function run(args: Arguments): number {
  const { folder, files } = exportAbi(args.need("dir"), args.flag("force"));
  if (args.flag("json")) printJson({ folder, files });
  else print(`${files} files in ${folder}`);
  return 0;
}
