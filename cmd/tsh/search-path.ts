// CTX_PATH of a standalone tsh: the data-only file CTX_HOME/.tshrc before the environment before the
// default. An agent's own CTX_PATH is part of its view, so no file changes it.

import { readFileSync, statSync } from "node:fs";
import { coded, fail } from "../../internal/abi/mod.ts";

/** Bytes of a .tshrc. Past it EMSGSIZE. */
const startFileBytesMax = 64 * 1024;

export interface SearchPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
  /** Where the caller's home in the view is when CTX_HOME does not say. */
  readonly root: string;
}

/** Folders of the view in order. Throws EINVAL with the place for a malformed .tshrc. */
export function searchPath({ env, uid, root }: SearchPlace): string[] {
  const inherited = env["CTX_PATH"];
  const file = `${env["CTX_HOME"] || `${root}/home/${uid}`}/.tshrc`;
  const named = env["CTX_AGENT"] ? undefined : readStartFile(file);
  return (named || inherited || `/ctx/tool:/ctx/home/${uid}/tool`).split(":").filter(Boolean);
}

/** The CTX_PATH of a start file; undefined without the file or without the line. */
function readStartFile(file: string): string | undefined {
  let text: string;
  try {
    const facts = statSync(file);
    if (!facts.isFile()) fail("EINVAL", `${JSON.stringify(file)} is not a regular file`);
    if (facts.size > startFileBytesMax) {
      fail("EMSGSIZE", `${JSON.stringify(file)} is larger than ${startFileBytesMax} bytes`);
    }
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (coded(error).code === "ENOENT") return undefined;
    throw error;
  }
  return parseStartFile(text, file);
}

/**
 * Blank lines, comments, and one line CTX_PATH=FOLDER:…, which is read and never run. EINVAL with line
 * and column for anything else.
 */
export function parseStartFile(text: string, file: string): string | undefined {
  let found: string | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "" || /^\s*#/.test(line)) continue;
    const refuse = (column: number, reason: string): never =>
      fail("EINVAL", reason, { place: { file, line: index + 1, column } });
    const value = line.startsWith(key) ? line.slice(key.length) : undefined;
    if (value === undefined) {
      return refuse(wrongAt(line), `only ${key}FOLDER:… may stand here; this is no shell file`);
    }
    if (found !== undefined) refuse(1, "CTX_PATH is set twice");
    let column = key.length + 1;
    for (const folder of value.split(":")) {
      const odd = folder.search(/[\s"'`$\\;&|<>()*?[\]{}~\x00-\x1f\x7f]/);
      if (!folder.startsWith("/")) {
        refuse(column, `${JSON.stringify(folder)} is not an absolute folder of the view`);
      }
      if (odd >= 0) {
        refuse(column + odd, `${JSON.stringify(folder[odd])} may not be in a folder's path`);
      }
      column += folder.length + 1;
    }
    found = value;
  }
  return found;
}

const key = "CTX_PATH=";

/** Where a line stops being what it could be. */
function wrongAt(line: string): number {
  let at = 0;
  while (at < key.length && line[at] === key[at]) at++;
  return at + 1;
}
