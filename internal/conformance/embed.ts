// Reads the folder `abi/` while a program is bundled, or while its source is loaded: this module is
// a macro, so what it returns is put into `files.ts` as a text and no program looks for the folder.

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const top = resolve(import.meta.dir, "../../abi");

/** Every file of `abi/` by its path below it, as one JSON object. Throws when one is not UTF-8. */
export function readAbi(): string {
  const paths = readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".tmp"))
    .map((entry) => join(entry.parentPath, entry.name).slice(top.length + 1))
    .sort();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const texts = paths.map((path) => [path, decoder.decode(readFileSync(join(top, path)))]);
  return JSON.stringify(Object.fromEntries(texts));
}
