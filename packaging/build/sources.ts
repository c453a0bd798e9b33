// What a build is made from, as one digest, so that an unchanged tree is not built again.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Everything that can change a binary; tests and their data cannot. */
const roots = ["abi", "cmd", "internal", "docs/man", "packaging/build", "packaging/completions"];
const files = ["package.json", "package-lock.json", "tsconfig.json"];

/** Names of the programs: every folder of cmd/ that has a main.ts, sorted. */
export function programs(top: string): string[] {
  return readdirSync(join(top, "cmd"), { recursive: true, encoding: "utf8" })
    .filter((path) => /^[^/]+\/main\.ts$/.test(path))
    .map((path) => path.split("/")[0] as string)
    .sort();
}

export function sourceDigest(top: string, commit: string): string {
  const hash = createHash("sha256").update(`${process.version} ${process.arch} ${commit}\n`);
  for (const path of sourceFiles(top)) {
    hash.update(`${path}\n`).update(readFileSync(join(top, path)));
  }
  return hash.digest("hex");
}

function sourceFiles(top: string): string[] {
  const found = roots.flatMap((root) =>
    readdirSync(join(top, root), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
      .map((entry) => join(entry.parentPath, entry.name).slice(top.length + 1)),
  );
  return [...found, ...files].sort();
}
