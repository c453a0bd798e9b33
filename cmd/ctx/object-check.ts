// `ctx object check`: judges manifests with their executables. It opens no tree and writes nothing.

import { print, printJson } from "../../internal/cli/mod.ts";
import { checkManifest, checkSchemas } from "../../internal/install/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { manifestsOf } from "./object-words.ts";

export const spec: CommandSpec = {
  name: "object check",
  words: "<manifest> [more..]",
  summary: "Checks manifests of tools and agents and the executables that they bind.",
  more:
    "A manifest is JSON or YAML. What is wrong is named with its file, line, column and field.\n" +
    "Nothing is written, and no symlink is followed on the way.\n",
  positionals: { manifest: "File that describes the object", more: "More of them" },
  options: {},
  examples: [
    ["object check github.search.manifest.json", "prints: valid tool/github.search"],
    ["object check manifests/*.json", "each of a folder; the first that is wrong ends it"],
  ],
};

export async function run(args: Arguments): Promise<number> {
  for (const path of manifestsOf(args)) {
    const { manifest, sha256, definition, close } = checkManifest(path);
    close();
    await checkSchemas(manifest);
    const { schema, class: kind, name, version, executable } = manifest;
    const facts = { manifest: path, manifest_sha256: sha256, definition: definition ?? null };
    if (!args.flag("json")) print(`valid ${kind}/${name}`);
    else printJson({ valid: true, schema, class: kind, name, version, executable, ...facts });
  }
  return 0;
}
