// The files of `abi/`, carried inside the program byte for byte. Everything that shows, exports or
// plays them reads them here, so that a program without a checkout behind it says the same.

import { fail } from "../abi/mod.ts";
import { readAbi } from "./embed.ts" with { type: "macro" };

let texts: ReadonlyMap<string, string> | undefined;

/** Every file by its path below `abi/`, in the order of their paths. */
export function abiFiles(): ReadonlyMap<string, string> {
  texts ??= new Map(Object.entries(JSON.parse(readAbi()) as Record<string, string>));
  return texts;
}

/** The text of one file, e.g. "op/v1/kinds.json". ENOENT when there is none. */
export function abiFile(path: string): string {
  const text = abiFiles().get(path);
  return text ?? fail("ENOENT", `abi file ${JSON.stringify(path)} does not exist`);
}

/** Names of the files directly in one folder of `abi/`, e.g. "op/v1/accept". */
export function abiFileNames(folder: string): string[] {
  const start = `${folder}/`;
  return [...abiFiles().keys()]
    .filter((path) => path.startsWith(start) && !path.includes("/", start.length))
    .map((path) => path.slice(start.length));
}
