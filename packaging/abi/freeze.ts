// `make freeze`: adds the files of abi/ that are new to abi/FROZEN.sha256. It refuses when a frozen
// file changed or is gone; FORCE=1 is for a version that no release has carried yet.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { abiFiles, freeze, frozenFile } from "../../internal/conformance/mod.ts";

const path = resolve(import.meta.dir, "../../abi", frozenFile);

function readList(): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return "";
    throw error;
  }
}

const old = readList();
const { text, broken, added } = freeze(abiFiles(), old);
for (const sentence of broken) process.stderr.write(`freeze: ${sentence}\n`);
if (broken.length > 0 && process.env["FORCE"] !== "1") {
  process.stderr.write(
    "  hint: put the file back and give a new version a folder of its own; FORCE=1 overrides\n",
  );
  process.exit(1);
}
if (text !== old) {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}
process.stdout.write(
  `${text.split("\n").length - 1} files are frozen, ${added.length} of them new\n`,
);
