// The files of the repository as git sees them: tracked, and new ones that are not ignored.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const top = resolve(import.meta.dir, "../..");

export function repositoryFiles(): string[] {
  const listing = Bun.spawnSync(
    ["git", "-c", `safe.directory=${top}`, "ls-files", "-z", "-co", "--exclude-standard"],
    { cwd: top },
  );
  if (!listing.success) throw new Error(listing.stderr.toString());
  const paths = listing.stdout.toString().split("\0").filter(Boolean);
  // A tracked file that was deleted and not yet committed is listed and is not there.
  return [...new Set(paths)].filter((path) => Bun.file(join(top, path)).size > 0).sort();
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** TypeScript of the product, its tests, its tools and its benches. */
export function sourceFiles(): SourceFile[] {
  return repositoryFiles()
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path, text: readFileSync(join(top, path), "utf8") }));
}

export function isTest(path: string): boolean {
  return path.endsWith(".test.ts");
}
